import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import type { FieldCode } from '../../handlers/http/error-codes.js';
import { HttpError, reason } from '../../handlers/http/errors.js';
import { discardForm, type Form, type FormOptions, readForm } from '../../handlers/http/forms.js';
import type { FieldType } from '../../handlers/operation.js';
import { samples } from '../../scripts/contract-test/images.js';
import { until } from '../support/until.js';

const kinds: Record<string, FieldType> = {
  title: 'string',
  text: 'string',
  private: 'boolean',
  image: 'file',
  cover: 'file',
};
const limits: FormOptions = {
  maxFileBytes: 300_000,
  maxBodyBytes: 600_000,
  spoolDir: await mkdtemp(join(tmpdir(), 'forms-test-')),
  hasFreeSpace: async () => true,
  stripMetadata: true,
};

/** The files that were in the spool after the last form was read. */
let spooled: { mode: number; bytes: Buffer }[] = [];
let endedHandlers = 0;
let failure: unknown;

const app = Fastify({ requestTimeout: 20_000 });
app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
app.setErrorHandler((error, _request, reply) => {
  failure = error;
  if (!(error instanceof HttpError)) return reply.code(500).send({ message: String(error) });
  return reply.code(error.status).send({ message: error.message, errors: error.problems });
});
app.post('/', async (request) => {
  try {
    if (request.headers['x-disconnected']) await until(() => request.raw.destroyed);
    if (request.headers['x-arrived']) await turn();
    const form = await readForm(request, kinds, limits);
    spooled = await Promise.all(
      (await readdir(limits.spoolDir)).map(async (name) => {
        const path = join(limits.spoolDir, name);
        return { mode: (await stat(path)).mode & 0o777, bytes: await readFile(path) };
      }),
    );
    await discardForm(form);
    return form;
  } finally {
    endedHandlers++;
  }
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The server side of the newest connection. */
let accepted: Socket | undefined;
app.server.on('connection', (socket: Socket) => {
  accepted = socket;
});

/** Opens a connection and sends these bytes. Resolves when the service has received all. */
async function deliver(...sent: (string | Uint8Array)[]): Promise<Socket> {
  accepted = undefined;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const bytes = Buffer.concat(sent.map((piece) => Buffer.from(piece)));
  socket.write(bytes);
  await until(() => (accepted?.bytesRead ?? 0) >= bytes.length);
  return socket;
}

t.teardown(async () => {
  agent.destroy();
  await app.close();
  await rm(limits.spoolDir, { recursive: true });
});
/** Defines a test that must leave the spool empty. */
const test = (name: string, run: (t: Test) => Promise<void>) =>
  t.test(name, async (t) => {
    await run(t);
    t.same(await readdir(limits.spoolDir), [], 'the spool is empty');
  });

const BOUNDARY = 'a-boundary';
const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Returns the bytes of a part with its boundary and its headers. */
const part = (headers: string | string[], bytes: string | Uint8Array = '') =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${[headers].flat().join('\r\n')}\r\n\r\n`), Buffer.from(bytes), CRLF]);
const CRLF = Buffer.from('\r\n');
const END = `--${BOUNDARY}--\r\n`;
const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(END)]);
const text = (name: string, value: string | Uint8Array, ...headers: string[]) =>
  part([`Content-Disposition: form-data; name="${name}"`, ...headers], value);
const file = (name: string, bytes: string | Uint8Array, type?: string, fileName = 'a.bin') =>
  part(
    [
      `Content-Disposition: form-data; name="${name}"; filename="${fileName}"`,
      ...(type === undefined ? [] : [`Content-Type: ${type}`]),
    ],
    bytes,
  );

interface TestResponse {
  status: number;
  body: Form & { message: string; errors: Form['problems'] };
}

async function post(body: Uint8Array | Uint8Array[], headers: OutgoingHttpHeaders = {}): Promise<TestResponse> {
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent });
  // The response may arrive before the whole body is sent.
  const responded = once(request, 'response');
  request.setHeader('Content-Type', CONTENT_TYPE);
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value ?? '');
  if (!Array.isArray(body)) {
    request.setHeader('Content-Length', body.length);
    request.end(body);
  } else {
    for (const chunk of body) {
      request.write(chunk);
      await new Promise(setImmediate);
    }
    request.end();
  }
  const [response] = (await responded) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

/** A problem as its field, its code and, unless it is the usual one of the code, its message. */
type ExpectedProblem = [field: string, code: FieldCode, message?: string];

/** Sends these parts and expects these problems and these text fields. */
async function expectForm(t: Test, parts: Buffer[], problems: ExpectedProblem[], fields: object, name: string) {
  const { status, body } = await post(form(...parts));
  t.equal(status, 200, `${name}: read`);
  t.same(
    body.problems,
    problems.map(([field, code, message]) => ({ in: 'body', field, ...reason(code, message) })),
    `${name}: problems`,
  );
  t.strictSame(body.fields, fields, `${name}: fields`);
}

async function expectImage(t: Test, parts: Buffer[], mediaType: string, bytes: Uint8Array, name: string) {
  const { body } = await post(form(...parts));
  t.same(body.problems, [], `${name}: no problems`);
  t.match(body.fields.image, { path: limits.spoolDir, size: bytes.length, mediaType }, name);
  t.strictSame(spooled, [{ mode: 0o600, bytes: Buffer.from(bytes) }], `${name}: spooled`);
}

async function expectMalformed(t: Test, response: Promise<TestResponse>, message: RegExp) {
  const { status, body } = await response;
  t.equal(status, 400);
  t.match(body.errors, [{ in: 'body', field: '', code: 'malformed_form', message }]);
}

test('parses text fields', async (t) => {
  await expectForm(t, [], [], {}, 'no parts');
  await expectForm(t, [text('title', ''), text('private', 'True')], [], { title: '', private: 'True' }, 'unchanged');
  await expectForm(t, [text('title', 'x'.repeat(65_536))], [], { title: 'x'.repeat(65_536) }, 'maximum length');
  await expectForm(
    t,
    [text('title', 'x'.repeat(65_537)), text('text', 'y')],
    [['title', 'too_long', 'must have at most 65536 bytes']],
    { text: 'y' },
    'too long',
  );
  await expectForm(t, [text('colour', 'red')], [], { colour: 'red' }, 'an undeclared field is left to the schema');
  await expectForm(t, [text('größe', 'x')], [], { größe: 'x' }, 'a name in UTF-8');
  await expectForm(t, [text('a\\"b\\\\', 'x')], [], { 'a"b\\': 'x' }, 'a name with escapes');
});

test('accepts only plain UTF-8 text', async (t) => {
  for (const type of ['text/plain', 'Text/Plain; charset=UTF-8', 'text/plain; charset="utf-8"']) {
    await expectForm(t, [text('title', 'é', `Content-Type: ${type}`)], [], { title: 'é' }, type);
  }
  for (const type of ['application/json', 'application/octet-stream', 'text/html', 'image/png']) {
    const parts = [text('title', '"x"', `Content-Type: ${type}`)];
    await expectForm(t, parts, [['title', 'not_text']], {}, type);
  }
  for (const type of ['application/json', 'application/json; charset=utf-8']) {
    const parts = [text('private', 'true', `Content-Type: ${type}`)];
    await expectForm(t, parts, [], { private: 'true' }, `a boolean as ${type}`);
  }
  const broken = [text('title', '{', 'Content-Type: application/json')];
  await expectForm(t, broken, [['title', 'not_text']], {}, 'JSON is never parsed');
  for (const charset of ['iso-8859-1', 'UTF-16LE', 'windows-1252']) {
    const parts = [text('title', 'x', `Content-Type: text/plain; charset=${charset}`)];
    await expectForm(t, parts, [['title', 'invalid_encoding']], {}, charset);
  }
  await expectForm(
    t,
    [text('title', Buffer.from('é', 'latin1')), text('text', Buffer.from([0xed, 0xa0, 0x80]))],
    [
      ['title', 'invalid_encoding'],
      ['text', 'invalid_encoding'],
    ],
    {},
    'invalid UTF-8',
  );
  const encoded = 'must be sent without a transfer encoding';
  const base64 = 'Content-Transfer-Encoding: base64';
  await expectForm(t, [text('title', 'eA==', base64)], [['title', 'invalid_encoding', encoded]], {}, 'base64');
  await expectForm(t, [text('title', 'x', 'Content-Transfer-Encoding: 8bit')], [], { title: 'x' }, '8bit');
});

test('removes metadata from images, and reports the remaining size', async (t) => {
  const tagged = Buffer.concat([samples.jpeg, Buffer.from('a trailer')]);
  await expectImage(t, [file('image', tagged)], 'image/jpeg', samples.jpeg, 'removed');
  limits.stripMetadata = false;
  t.teardown(() => {
    limits.stripMetadata = true;
  });
  await expectImage(t, [file('image', tagged)], 'image/jpeg', tagged, 'kept if stripping is disabled');
});

test('reports an image that cannot be cleaned, and deletes it', async (t) => {
  const damaged = [file('image', 'GIF89aExif\0')];
  await expectForm(t, damaged, [['image', 'damaged_image']], {}, 'metadata in an unknown place');
  const huge = Buffer.from(samples.gif).fill(0xff, 6, 10);
  const { body } = await post(form(file('image', huge)));
  t.match(body.problems, [{ field: 'image', ...reason('too_many_pixels') }]);
});

test('an error that is not a failure of the disk is not reported as one', async (t) => {
  limits.hasFreeSpace = async () => {
    throw new TypeError('a bug');
  };
  t.teardown(() => {
    limits.hasFreeSpace = async () => true;
  });
  failure = undefined;
  await post(form(file('image', samples.png)));
  t.match(failure, TypeError);
});

test('reports files of other types', async (t) => {
  const ftyp = (brand: string) => Buffer.from(`\0\0\0\x10ftyp${brand}\0\0\0\0`, 'latin1');
  for (const [bytes, name] of [
    [ftyp('heic'), 'HEIC'],
    [ftyp('mp42'), 'MP4'],
    [Buffer.from('II*\0\x08\0\0\0\0\0', 'latin1'), 'TIF'],
    [Buffer.from('%PDF-1.7'), 'PDF'],
    [Buffer.from('\0\0\x01\0\x01\0', 'latin1'), 'ICO'],
  ] as const) {
    const message = `must be a JPEG, PNG, GIF, WebP or AVIF image, not ${name}`;
    await expectForm(t, [file('image', bytes)], [['image', 'unsupported_image', message]], {}, name);
  }
});

test('recognizes file parts', async (t) => {
  for (const headers of [
    ['Content-Disposition: form-data; name="image"', 'Content-Type: application/octet-stream'],
    ['Content-Disposition: form-data; name="image"', 'Content-Type: image/png'],
    ['Content-Disposition: form-data; name="image"; filename="a.png"', 'Content-Type: '],
    ['Content-Disposition: form-data; name=image; filename=a.png'],
    ['content-disposition:form-data;filename="a;b.png";name="image"'],
    ['Content-Disposition: form-data; name="image"; filename*=UTF-8\'\'%e2%82%ac.png'],
    ['Content-Disposition: form-data; name="image"; filename="\\"; name=title"'],
    ['Content-Disposition: form-data; name="image"; filename=""', 'Content-Type: image/png'],
  ]) {
    await expectImage(t, [part(headers, samples.png)], 'image/png', samples.png, headers.join(', '));
  }
});

test('requires the bytes of an image of the declared type', async (t) => {
  const mismatch = (type: string, declared: string, actual: string, bytes: Uint8Array) =>
    expectForm(
      t,
      [file('image', bytes, type)],
      [['image', 'image_type_mismatch', `is declared as ${declared}, but its bytes are ${actual}`]],
      {},
      `${type} for ${actual}`,
    );
  await mismatch('image/png', 'image/png', 'image/jpeg', samples.jpeg);
  await mismatch('image/jpeg; q=1', 'image/jpeg', 'image/png', samples.png);
  await mismatch('text/plain', 'text/plain', 'image/png', samples.png);
  await mismatch('image/svg+xml', 'image/svg+xml', 'image/png', samples.png);
  await mismatch('__proto__', '__proto__', 'image/png', samples.png);
  await mismatch(`image/${'x'.repeat(250)}`, 'another type', 'image/png', samples.png);
  await expectForm(
    t,
    [file('image', 'x', 'image/png', '')],
    [['image', 'unsupported_image']],
    {},
    'bytes, but no name',
  );
});

test('ignores an empty file input', async (t) => {
  await expectForm(t, [file('image', '', 'text/plain', '')], [], {}, 'of any type');
  const twice = [file('image', '', undefined, ''), file('image', samples.gif), file('image', '', undefined, '')];
  await expectImage(t, twice, 'image/gif', samples.gif, 'around a file');
});

test('reports all unknown and misplaced fields', async (t) => {
  await expectForm(t, [file('title', 'x')], [['title', 'not_text', 'must be text, not a file']], {}, 'a file for text');
  await expectForm(t, [text('a', '{}', 'Content-Type: application/json')], [['a', 'unknown_field']], {}, 'JSON');
  await expectForm(
    t,
    [text('title', '1'), text('title', '2'), text('title', '3'), text('a', '1'), text('a', '2')],
    [
      ['title', 'repeated'],
      ['title', 'repeated'],
      ['a', 'repeated'],
    ],
    { title: '1', a: '1' },
    'repeated text',
  );
  const { body } = await post(
    form(
      file('image', samples.png),
      file('image', samples.gif),
      text('text', Buffer.from([0xff])),
      file('other', 'x'.repeat(limits.maxFileBytes + 1)),
      file('cover', 'x'),
      text('cover', 'x'),
      text('title', 'x'),
    ),
  );
  t.match(body.fields, { image: { mediaType: 'image/png' }, title: 'x' });
  t.same(
    body.problems.map(({ field }) => field),
    ['image', 'text', 'other', 'cover', 'cover'],
  );
  t.strictSame(
    spooled.map(({ bytes }) => bytes),
    [samples.png],
    'only the first file is stored',
  );
});

test('reports files in fields named like properties of every object', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    await expectForm(t, [file(name, samples.png)], [[name, 'unknown_field']], {}, name);
  }
});

test('limits sizes', async (t) => {
  const tooLarge = async (response: Promise<TestResponse>, message: RegExp, name: string) =>
    t.match(await response, { status: 413, body: { message } }, name);
  const oversized = Buffer.alloc(limits.maxFileBytes + 1, samples.png);
  await tooLarge(post(form(file('image', oversized))), /file/, 'a file');
  await tooLarge(post(form(text('title', 'x'), file('cover', samples.png), file('image', oversized))), /file/, 'after');
  const whole = Buffer.alloc(limits.maxBodyBytes + 1);
  await tooLarge(post(form(file('other', whole))), /body/, 'a body with Content-Length');
  await tooLarge(post([form(file('other', whole))]), /body/, 'a chunked body');
  await tooLarge(post([form(text('title', whole))]), /body/, 'a body of text fields');
  await tooLarge(post([whole]), /body/, 'a body that is no form');
  const inImage = [...Array<Buffer>(3).fill(Buffer.alloc(200_000, samples.png))];
  const two = form(file('cover', inImage[0] as Buffer), file('image', Buffer.concat(inImage)));
  await tooLarge(post([two]), /./, 'while a file is being stored');
  await expectForm(t, [text('title', 'x')], [], { title: 'x' }, 'the connection still works');
});

test('rejects a malformed body with 400', async (t) => {
  const whole = form(text('title', 'x'), file('image', samples.png));
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""']) {
    await expectMalformed(t, post(whole, { 'Content-Type': type }), /boundary/);
  }
  const long = `multipart/form-data; boundary=${'x'.repeat(300)}`;
  await expectMalformed(t, post(whole, { 'Content-Type': long }), /boundary/);
  await expectMalformed(t, post(whole, { 'Content-Type': 'multipart/form-data; boundary=other' }), /closing boundary/);
  await expectMalformed(t, post(Buffer.from('no form')), /closing boundary/);
  for (const length of [3, 20, 60, 80, 120, 190, whole.length - 6, whole.length - 4]) {
    await expectMalformed(t, post(whole.subarray(0, length)), /closing boundary/);
  }
  for (const headers of [
    'Content-Type: text/plain',
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; name=""',
    'Content-Disposition: form-data; name="title',
    'Content-Disposition: attachment; name="title"',
    'Content-Disposition form-data; name="title"',
    'Content-Disposition: form-data;\r name="title"',
    `Content-Disposition: form-data; name="${'x'.repeat(201)}"`,
    `Content-Disposition: form-data; name="${'x'.repeat(100_000)}"`,
  ]) {
    await expectMalformed(t, post(form(part(headers, 'x'), text('title', 'x'))), /Content-Disposition|headers/);
    await expectMalformed(t, post(form(file('image', samples.png), part(headers, 'x'))), /Content-Disposition|headers/);
  }
  await expectMalformed(t, post(Buffer.from(`--${BOUNDARY}\r\nContent-Disp\r\n${END}`)), /headers/);
  await expectMalformed(t, post(Buffer.from(`--${BOUNDARY}\r\n\r\n${END}`)), /Content-Disposition|headers/);
  const many = Array.from({ length: 101 }, (_, n) => text(`f${n}`, ''));
  await expectMalformed(t, post(form(...many)), /at most 100 parts/);
  t.equal((await post(form(...many.slice(1)))).status, 200, 'maximum number of parts');
});

test('rejects a form that ends while one of its parts is being read', async (t) => {
  for (const opening of [text('title', 'x'), file('image', samples.png), file('other', 'x')]) {
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${opening.length}\r\n\r\n`;
    failure = undefined;
    const socket = await deliver(head, opening.subarray(0, -3));
    socket.write(opening.subarray(-3));
    await until(() => failure !== undefined);
    t.match(failure, { status: 400, problems: [{ code: 'malformed_form' }] });
    socket.destroy();
  }
});

test('parses any division into chunks', async (t) => {
  const preamble = Buffer.from('a preamble\r\n');
  const epilogue = Buffer.from('an epilogue');
  const bytes = Buffer.from(`GIF89a\r\n--${BOUNDARY.slice(0, -1)}\r\n-`);
  const whole = Buffer.concat([
    preamble,
    form(text('title', ''), text('text', 'é'), file('image', bytes), text('private', '')),
    epilogue,
  ]);
  for (const size of [1, 2, 7, 64, whole.length]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
    const { body } = await post(chunks);
    t.match(
      body,
      { problems: [], fields: { title: '', text: 'é', private: '', image: { size: bytes.length } } },
      `${size}`,
    );
    t.strictSame(spooled[0]?.bytes, bytes);
  }
  t.match(await post([]), { status: 200, body: { fields: {}, problems: [] } }, 'no chunks are an empty form');
});

test('a part whose last bytes look like a delimiter does not stop the form', async (t) => {
  const long = `${'é'.repeat(8191)}\r\n`;
  const whole = form(text('text', long), text('title', 'x'));
  const delimiter = `\r\n--${BOUNDARY}`;
  const end = whole.indexOf(delimiter);
  const next = end + delimiter.length;
  const pieces = [whole.subarray(0, end), whole.subarray(end, next), whole.subarray(next)];
  const chunks = pieces.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, CRLF]);
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nTransfer-Encoding: chunked\r\n`;
  // All chunks must have arrived before the form is read.
  const socket = await deliver(`${head}X-Arrived: yes\r\n\r\n`, ...chunks, '0\r\n\r\n');
  const [response] = await once(socket, 'data');
  t.match(String(response), /^HTTP\/1.1 200 /);
  socket.destroy();
});

test('accepts other boundaries', async (t) => {
  const boundary = "'()+_,-./:=?";
  const body = form(text('title', 'x')).toString().replaceAll(BOUNDARY, boundary);
  const headers = { 'Content-Type': `Multipart/Form-Data; charset=utf-8; Boundary="${boundary}"` };
  t.match(await post(Buffer.from(body), headers), { status: 200, body: { fields: { title: 'x' } } });
});

test('deletes the files of a client that disconnects', async (t) => {
  const whole = form(file('cover', samples.png), file('image', Buffer.alloc(200_000, samples.png)));
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${whole.length}\r\n\r\n`;
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    for (const length of [0, 30, 150, 260, 1000, 150_000]) {
      endedHandlers = 0;
      failure = undefined;
      const socket = await deliver(head, whole.subarray(0, length));
      socket[end]();
      await until(() => endedHandlers > 0);
      t.equal(endedHandlers, 1, `${end} after ${length}: the handler ends`);
      t.match(failure, { status: 400 }, `${end} after ${length}: with a 400`);
      t.same(await readdir(limits.spoolDir), [], `${end} after ${length}: the spool is empty`);
      socket.destroy();
    }
  }
});

test('handles a client that disconnected before its form is read', async (t) => {
  endedHandlers = 0;
  failure = undefined;
  const socket = await deliver(
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: 9\r\nX-Disconnected: yes\r\n\r\n`,
  );
  socket.destroy();
  await until(() => endedHandlers > 0);
  t.match(failure, { status: 400, problems: [{ code: 'incomplete_body' }] });
});

test('responds while the body is still arriving, and keeps the connection', async (t) => {
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\n`;
  const next = form(text('title', 'next'));
  const rest = Buffer.alloc(1_000_000, 'x');
  for (const [status, opening] of [
    [413, Buffer.concat([file('image', '').subarray(0, -2), rest])],
    [413, Buffer.concat([text('title', '').subarray(0, -2), rest])],
    [400, part('Content-Type: text/plain', 'x')],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const length = opening.length + rest.length;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n`);
    socket.write(opening);
    await until(() => received.endsWith('}'));
    t.match(received, new RegExp(`^HTTP/1.1 ${status} `));
    received = '';
    socket.write(rest);
    socket.write('\r\n0\r\n\r\n');
    socket.write(`${head}Content-Length: ${next.length}\r\n\r\n`);
    socket.write(next);
    await until(() => received.endsWith('}'));
    t.match(received, /^HTTP\/1.1 200 .*"title":"next"/s);
    socket.destroy();
  }
});

test('rejects a body with an excessive Content-Length without reading it', async (t) => {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: 600001\r\n\r\n`);
  const [response] = await once(socket, 'data');
  t.match(String(response), /^HTTP\/1.1 413 /);
  socket.destroy();
});

test('a spool that is not writable fails only the request', async (t) => {
  const { spoolDir } = limits;
  limits.spoolDir = join(spoolDir, 'missing');
  t.teardown(() => {
    limits.spoolDir = spoolDir;
  });
  const body = form(file('image', Buffer.alloc(200_000, samples.png)));
  t.equal((await post(body)).status, 500);
  limits.spoolDir = spoolDir;
  await expectImage(t, [file('image', samples.png)], 'image/png', samples.png, 'the next upload is accepted');
});

test('discarding ignores files that no longer exist', async (t) => {
  const path = join(limits.spoolDir, 'kept');
  await writeFile(path, '');
  const fields = { title: 'x', image: { path, size: 0, mediaType: 'image/png' } };
  await discardForm({ fields, problems: [] });
  t.same(await readdir(limits.spoolDir), []);
  await discardForm({ fields, problems: [] });
});
