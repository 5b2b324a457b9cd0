import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import type { FieldCode } from '../../handlers/error-codes.js';
import { reason } from '../../handlers/errors.js';
import { acceptBodies } from '../../handlers/http/bodies.js';
import { createErrorHandler } from '../../handlers/http/error-handler.js';
import { discardForm, type FormOptions, readForm } from '../../handlers/http/forms.js';
import type { FieldType } from '../../handlers/operation.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { sendByHttp } from '../support/http.js';
import { until } from '../support/until.js';
import { nextAcceptedSocket, openConnection } from '../support/wire.js';

/* Covers what the rules `uploads.*` and `bodies.*` do not: temporary files, chunks, rare forms. */

const fieldTypes: Record<string, FieldType> = {
  title: 'string',
  text: 'string',
  private: 'boolean',
  image: 'file',
  cover: 'file',
};
const options: FormOptions = {
  maxFileBytes: 300_000,
  maxBodyBytes: 600_000,
  uploadsDir: t.testdir(),
  hasFreeSpace: async () => true,
  stripMetadata: true,
};

/** The temporary files of the last form, before they were removed. */
let temporaryFiles: { mode: number; bytes: Buffer }[] = [];
/** The errors with which reading a form failed. Tests may reset this list. */
let failures: unknown[] = [];

const app = Fastify({ requestTimeout: 20_000 });
await acceptBodies(app);
app.setErrorHandler(createErrorHandler());
app.post('/', async (request) => {
  // Tests send these headers to delay the reading of a form.
  if (request.headers['x-disconnected']) await until(() => request.raw.destroyed);
  if (request.headers['x-arrived']) await nextIteration();
  const form = await readForm(request, fieldTypes, options).catch((error) => {
    failures.push(error);
    throw error;
  });
  temporaryFiles = await Promise.all(
    (await readdir(options.uploadsDir)).map(async (name) => {
      const path = join(options.uploadsDir, name);
      return { mode: (await stat(path)).mode & 0o777, bytes: await readFile(path) };
    }),
  );
  await discardForm(form);
  return form;
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

t.teardown(async () => {
  agent.destroy();
  await app.close();
});

/** Defines a test that must leave no temporary files. */
const test = (name: string, run: (t: Test) => Promise<void>) =>
  t.test(name, async (t) => {
    await run(t);
    t.same(await readdir(options.uploadsDir), [], 'no temporary files');
  });

const CRLF = '\r\n';
const BOUNDARY = 'a-boundary';
const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Returns the bytes of a part with its boundary and its headers. */
const part = (headers: string[], bytes: string | Uint8Array = '') =>
  Buffer.concat([
    Buffer.from([`--${BOUNDARY}`, ...headers, CRLF].join(CRLF)),
    Buffer.from(bytes as Uint8Array),
    Buffer.from(CRLF),
  ]);
const form = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
const text = (name: string, value: string | Uint8Array, ...headers: string[]) =>
  part([`Content-Disposition: form-data; name="${name}"`, ...headers], value);
const file = (name: string, bytes: string | Uint8Array, type = 'application/octet-stream', fileName = 'a.bin') =>
  text(`${name}"; filename="${fileName}`, bytes, `Content-Type: ${type}`);

const head = (...headers: string[]) =>
  ['POST / HTTP/1.1', 'Host: x', `Content-Type: ${CONTENT_TYPE}`, ...headers, CRLF].join(CRLF);

const post = (body: Uint8Array, headers: Record<string, string> = {}) =>
  sendByHttp(url, 'POST', '/', { body, agent, headers: { 'Content-Type': CONTENT_TYPE, ...headers } });

/** Opens a connection, sends these bytes, and waits until the service has received them. */
async function openAndSend(...sent: (string | Uint8Array)[]): Promise<Socket> {
  const accepted = nextAcceptedSocket();
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  const bytes = Buffer.concat(sent.map((piece) => Buffer.from(piece as Uint8Array)));
  socket.write(bytes);
  const server = await accepted;
  await until(() => server.bytesRead >= bytes.length);
  return socket;
}

/** Sends a body in these chunks, which all arrive before the form is read. Returns the parsed body of the 200. */
async function sendChunks(t: Test, chunks: Buffer[]) {
  const framed = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, CRLF]);
  const socket = await openAndSend(head('Transfer-Encoding: chunked', 'X-Arrived: yes'), ...framed, '0\r\n\r\n');
  const [response] = await once(socket, 'data');
  socket.destroy();
  const [responseHead, body = ''] = `${response}`.split('\r\n\r\n');
  t.match(responseHead, /^HTTP\/1.1 200 /);
  return JSON.parse(body);
}

/** A problem: its field, its code, and its message if it differs from the default message of the code. */
type ExpectedProblem = [field: string, code: FieldCode, message?: string];

/** Sends these parts and expects these text fields and problems. */
async function expectForm(t: Test, name: string, parts: Buffer[], fields: object, ...problems: ExpectedProblem[]) {
  const { status, body } = await post(form(...parts));
  t.equal(status, 200, `${name}: read`);
  const expected = problems.map(([field, code, message]) => ({ in: 'body', field, ...reason(code, message) }));
  t.same(body.problems, expected, `${name}: problems`);
  t.strictSame(body.fields, fields, `${name}: fields`);
}

async function expectImage(t: Test, name: string, parts: Buffer[], bytes: Uint8Array) {
  const { body } = await post(form(...parts));
  t.same(body.problems, [], `${name}: no problems`);
  t.match(body.fields.image, { path: options.uploadsDir, size: bytes.length, mediaType: 'image/png' }, name);
  t.strictSame(temporaryFiles, [{ mode: 0o600, bytes: Buffer.from(bytes) }], `${name}: temporary file`);
}

async function expectMalformed(t: Test, message: RegExp, body: Uint8Array, type = CONTENT_TYPE) {
  const response = await post(body, { 'Content-Type': type });
  t.equal(response.status, 400);
  t.match(response.body.errors, [{ in: 'body', field: '', code: 'malformed_form', message }]);
}

/** Changes options until the end of the test. */
function setOptions(t: Test, changes: Partial<FormOptions>): void {
  const before = { ...options };
  t.teardown(() => Object.assign(options, before));
  Object.assign(options, changes);
}

test('names the declared charset and type, unless it is too long or not a name', async (t) => {
  for (const [type, shown] of [
    ['text/plain; charset=windows-1252; charset=utf-8', 'windows-1252'],
    [`text/plain; charset=${'x'.repeat(41)}`, 'another charset'],
    ['text/plain; charset="\u009b<b>"', 'another charset'],
    ['text/ plain; charset=utf-8', 'another charset'],
  ] as const) {
    const message = `must be text in UTF-8, ISO-8859-1 or UTF-16LE, not ${shown}`;
    const parts = [text('title', 'x', `Content-Type: ${type}`)];
    await expectForm(t, type, parts, {}, ['title', 'invalid_encoding', message]);
  }
  for (const [type, shown] of [
    ['image/jpeg; q=1', 'image/jpeg'],
    [`image/${'x'.repeat(250)}`, 'another type'],
  ] as const) {
    const message = `is declared as ${shown}, but its bytes are image/png; the part must have the header Content-Type: image/png`;
    await expectForm(t, type, [file('image', samples.png, type)], {}, ['image', 'image_type_mismatch', message]);
  }
});

test('accepts a boolean as JSON, and a text neither as JSON nor with a transfer encoding', async (t) => {
  const asJson = 'Content-Type: application/json; charset=utf-8';
  await expectForm(t, 'a boolean', [text('private', 'true', asJson)], { private: 'true' });
  await expectForm(t, 'a text', [text('title', '"x"', asJson)], {}, ['title', 'not_text']);
  const encoded = text('title', 'eA==', 'Content-Transfer-Encoding: base64');
  const message = 'must be sent without a transfer encoding';
  await expectForm(t, 'base64', [encoded], {}, ['title', 'invalid_encoding', message]);
  await expectForm(t, 'a trailing space', [text('title', 'x', 'Content-Transfer-Encoding: 8BIT ')], { title: 'x' });
});

test('refuses a form with a part that cannot be read, instead of losing its value', async (t) => {
  const message = /a Content-Disposition of form-data, .* and valid headers/;
  const disposition = 'Content-Disposition: form-data; name="title"';
  for (const headers of [
    ['Bad header', disposition],
    [disposition, 'X: y\nz'],
    [disposition, `--${BOUNDARY}X: y`, 'Content-Disposition: form-data; name="a"'],
    [disposition, `X: ${'y'.repeat(8192)}`],
    [...Array.from({ length: 25 }, (_, number) => `X-${number}: y`), disposition],
    ['Content-Disposition: form-data; name=""'],
    [`Content-Disposition: form-data; name="${'x'.repeat(201)}"`],
  ]) {
    await expectMalformed(t, message, form(file('image', samples.png), part(headers, 'lost'), text('private', 'true')));
  }
  // The line break that ends a head begins a delimiter.
  const headOnly = form(text('title', '')).toString().replace('\r\n\r\n\r\n', '\r\n\r\n');
  await expectMalformed(t, message, Buffer.from(headOnly));
});

test('recognizes file parts', async (t) => {
  for (const headers of [
    ['Content-Disposition: form-data; name="image"', 'Content-Type: image/png'],
    ['Content-Disposition: form-data; name=image; filename=a.png', 'Content-Type: image/*'],
    ['content-disposition:form-data;filename="a;b.png";name="image"', 'content-type:image/png'],
    ['Content-Disposition: form-data; name="image"; filename*=UTF-8\'\'%e2%82%ac.png', 'Content-Type: image/png'],
    ['Content-Disposition: form-data; name="image"; filename=""', 'Content-Type: image/png'],
    ['Content-Disposition: form-data;\r\n name="image";\r\n\tfilename="a.png"', 'Content-Type: '],
  ]) {
    await expectImage(t, headers.join(', '), [part(headers, samples.png)], samples.png);
  }
});

test('keeps metadata if stripping is disabled', async (t) => {
  setOptions(t, { stripMetadata: false });
  const tagged = Buffer.concat([samples.png, Buffer.from('a trailer')]);
  await expectImage(t, 'kept', [file('image', tagged)], tagged);
});

test('reports all unknown and misplaced fields, and keeps only the first file', async (t) => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    await expectForm(t, name, [file(name, samples.png)], {}, [name, 'unknown_field']);
    await expectForm(t, name, [text(name, 'x', 'Content-Type: text/plain; charset=utf-7')], {}, [
      name,
      'unknown_field',
    ]);
  }
  const { body } = await post(
    form(
      file('image', samples.png),
      file('image', samples.gif),
      file('other', 'x'.repeat(options.maxFileBytes + 1)),
      file('cover', 'x'),
      text('cover', 'x'),
      text('title', 'x'),
    ),
  );
  t.match(body.fields, { image: { mediaType: 'image/png' }, title: 'x' });
  t.match(body.problems, [
    { field: 'image', code: 'repeated' },
    { field: 'cover', code: 'unsupported_image' },
    { field: 'cover', code: 'repeated' },
    { field: 'other', code: 'unknown_field' },
  ]);
  const stored = temporaryFiles.map(({ bytes }) => bytes);
  t.strictSame(stored, [samples.png]);
});

test('a form that is too large leaves no files', async (t) => {
  const image = (bytes: number) => Buffer.alloc(bytes, samples.png);
  const tooLargeFile = form(file('cover', samples.png), file('image', image(options.maxFileBytes + 1)));
  t.match(await post(tooLargeFile), { status: 413, body: { code: 'file_too_large' } });
  const largest = image(options.maxFileBytes - 1);
  const tooLargeBody = form(file('cover', largest), file('image', largest), text('title', 'x'));
  const chunked = { 'Transfer-Encoding': 'chunked' };
  const noForm = Buffer.alloc(options.maxBodyBytes + 1);
  const longEpilogue = Buffer.concat([form(file('image', samples.png)), noForm]);
  for (const body of [tooLargeBody, noForm, longEpilogue])
    t.match(await post(body, chunked), { status: 413, body: { code: 'body_too_large' } });
});

test('a text has a limit of its own, above that of a small file', async (t) => {
  setOptions(t, { maxFileBytes: samples.png.length });
  const title = 'x'.repeat(65_536);
  const { body } = await post(form(text('title', title), file('image', samples.png)));
  t.match(body, { problems: [], fields: { title, image: { size: samples.png.length } } });
  const tooLong = [text('title', `${title}x`), text('text', 'y')];
  await expectForm(t, 'too long', tooLong, { text: 'y' }, ['title', 'too_long', 'must have at most 65536 bytes']);
  const tooLarge = form(file('image', Buffer.concat([samples.png, Buffer.from('x')])));
  t.match(await post(tooLarge), { status: 413, body: { code: 'file_too_large' } });
});

test('refuses a form in tens of thousands of small chunks', async (t) => {
  const { socket, until } = openConnection(t, url);
  socket.write(head('Transfer-Encoding: chunked') + '1\r\nx\r\n'.repeat(30_001));
  await until(/^HTTP\/1.1 400 .*larger chunks/s);
});

test('rejects a malformed body with 400', async (t) => {
  const whole = form(text('title', 'x'), file('image', samples.png));
  for (const boundary of ['', '""', 'x'.repeat(71), '"\u00fc"', `"a\\"${BOUNDARY}"`]) {
    await expectMalformed(t, /boundary/, whole, `multipart/form-data; boundary=${boundary}`);
  }
  for (const length of [3, 20, 60, 80, 120, 190, whole.length - 6, whole.length - 4]) {
    await expectMalformed(t, /end with that boundary/, whole.subarray(0, length));
  }
});

test('stops parsing a form with more than 20 parts', async (t) => {
  const parts = Array.from({ length: 21 }, (_, n) => text(`f${n}`, ''));
  t.equal((await post(form(...parts.slice(1)))).status, 200, 'maximum number of parts');
  for (const body of [form(...parts), form(file('image', samples.png), ...parts)])
    await expectMalformed(t, /at most 20 parts/, body);

  const { resume } = Readable.prototype;
  t.teardown(() => {
    Readable.prototype.resume = resume;
  });
  let streams = 0;
  // The parser calls this for each part that it skips.
  Readable.prototype.resume = function (this: Readable) {
    streams += 1;
    return resume.call(this);
  };
  const emptyParts = Buffer.from('\r\n--a'.repeat(13_000));
  await expectMalformed(t, /at most 20 parts/, emptyParts, 'multipart/form-data; boundary=a');
  t.ok(streams < 6_500, `${streams} of 13000 parts`);
});

test('rejects a form that ends while one of its parts is being read', async (t) => {
  for (const opening of [text('title', 'x'), file('image', samples.png), file('other', 'x')]) {
    const socket = await openAndSend(head(`Content-Length: ${opening.length}`), opening.subarray(0, -3));
    socket.write(opening.subarray(-3));
    const [response] = await once(socket, 'data');
    t.match(String(response), /^HTTP\/1.1 400 [\s\S]*"malformed_form"/);
    socket.destroy();
  }
});

test('parses a form however it is divided into chunks', async (t) => {
  const bytes = Buffer.from(`GIF89a\r\n--${BOUNDARY.slice(0, -1)}\r\n-`);
  const parts = form(text('title', ''), text('text', 'é'), file('image', bytes), text('private', ''));
  const whole = Buffer.concat([Buffer.from('a preamble\r\n'), parts, Buffer.from('an epilogue')]);
  const fields = { title: '', text: 'é', private: '', image: { size: bytes.length } };
  for (const size of [1, 2, 7, 64, whole.length]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
    t.match(await sendChunks(t, chunks), { problems: [], fields }, `${size}`);
    t.strictSame(temporaryFiles[0]?.bytes, bytes);
  }
  t.match(await sendChunks(t, []), { fields: {}, problems: [] }, 'a body without chunks is an empty form');
});

test('deletes the files of a client that disconnects', async (t) => {
  const whole = form(file('cover', samples.png), file('image', Buffer.alloc(200_000, samples.png)));
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    for (const length of [0, 30, 150, 260, 1000, 150_000, whole.length - 2]) {
      failures = [];
      const socket = await openAndSend(head(`Content-Length: ${whole.length}`), whole.subarray(0, length));
      socket[end]();
      await until(() => failures.length > 0);
      t.match(failures, [{ status: 400 }], `${end} after ${length}: a 400`);
      t.same(await readdir(options.uploadsDir), [], `${end} after ${length}: no temporary files`);
      socket.destroy();
    }
  }
});

test('rejects a form whose client disconnects before the form is read', async (t) => {
  failures = [];
  const socket = await openAndSend(head('Content-Length: 9', 'X-Disconnected: yes'));
  socket.destroy();
  await until(() => failures.length > 0);
  t.match(failures, [{ status: 400, problems: [{ code: 'incomplete_body' }] }]);
});

test('responds while the body is still arriving, and keeps the connection', async (t) => {
  const next = form(text('title', 'next'));
  const rest = Buffer.alloc(1_000_000, 'x');
  for (const [status, opening] of [
    [413, Buffer.concat([file('image', '').subarray(0, -2), rest])],
    [413, Buffer.concat([text('title', '').subarray(0, -2), rest])],
    [400, Buffer.concat([part(['Content-Disposition: form-data'], 'x'), text('title', 'x')])],
  ] as const) {
    const connection = openConnection(t, url);
    const length = opening.length + rest.length;
    connection.socket.write(`${head('Transfer-Encoding: chunked')}${length.toString(16)}\r\n`);
    connection.socket.write(opening);
    await connection.until(new RegExp(`^HTTP/1.1 ${status} .*\\}$`, 's'));
    connection.socket.write(rest);
    connection.socket.write('\r\n0\r\n\r\n');
    connection.socket.write(head(`Content-Length: ${next.length}`));
    connection.socket.write(next);
    await connection.until(/\}HTTP\/1.1 200 .*"title":"next"/s);
  }
});

test('returns 503 while the disk fails and 500 for any other error, and then accepts uploads again', async (t) => {
  const upload = form(file('image', Buffer.alloc(200_000, samples.png)));
  const { uploadsDir, hasFreeSpace } = options;
  setOptions(t, { uploadsDir: join(uploadsDir, 'missing') });
  t.equal((await post(upload)).status, 503);
  setOptions(t, { uploadsDir, hasFreeSpace: () => Promise.reject(new TypeError('a bug')) });
  t.equal((await post(upload)).status, 500);
  let checks = 0;
  const limits = { maxFileBytes: 2_000_000, maxBodyBytes: 2_100_000 };
  setOptions(t, { ...limits, hasFreeSpace: async () => ++checks === 1 });
  t.equal(
    (await post(form(file('image', Buffer.alloc(1_500_000, samples.png))))).status,
    503,
    'full during the upload',
  );
  setOptions(t, { hasFreeSpace });
  await expectImage(t, 'the next upload', [file('image', samples.png)], samples.png);
});
