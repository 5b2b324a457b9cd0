import type { OutgoingHttpHeaders } from 'node:http';
import t from 'tap';
import { type ContractOperation, contract } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import { type Answer, problemsOf, startTestService } from './harness.js';
import { isForm, openStage, type Scene } from './scenes.js';
import { type Sent, wire, writeBytes } from './wire.js';

const IMAGE_LIMIT = 1000;
const KIB = 1024;

const service = await startTestService(t, { UPLOAD_MAX_BYTES: String(IMAGE_LIMIT) });
const stage = await openStage(service);
const send = wire(t, service.url);

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'multipart/form-data; boundary=edge' };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const framings: Record<string, OutgoingHttpHeaders> = { 'with its length': {}, 'in chunks': CHUNKED };

const bodiless = contract.filter(({ requestBody }) => !requestBody);
const withBody = contract.filter(({ requestBody }) => requestBody);
const withJson = withBody.filter((operation) => !isForm(operation));
const withForm = withBody.filter(isForm);

/** Sends the scene with a body that is not the example's. */
const sendScene = ({ operation, path, token }: Scene, sent: Sent, method = operation.method) =>
  send(method, path, { ...sent, token });

const invalidUtf8 = Buffer.from([...Buffer.from('{"email":"'), 0xff, ...Buffer.from('"}')]);

/** Bodies that hold no undocumented field to name, and are too much all the same. */
const strays: Record<string, Sent> = {
  'a text': { headers: { 'Content-Type': 'text/plain' }, body: 'hello' },
  'an empty object as text': { headers: { 'Content-Type': 'text/plain' }, body: '{}' },
  bytes: { headers: { 'Content-Type': 'application/octet-stream' }, body: samples.png },
  'an urlencoded form': { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=1' },
  'a form': { headers: FORM_TYPE, body: '--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--edge--\r\n' },
  'an empty form': { headers: FORM_TYPE, body: '--edge--\r\n' },
  'a form without boundary': { headers: { 'Content-Type': 'multipart/form-data' }, body: '--edge--\r\n' },
  'no type': { body: 'hello' },
  'an empty object without a type': { body: '{}' },
  'a type that is none': { headers: { 'Content-Type': 'json' }, body: '{}' },
  'an array': { headers: JSON_TYPE, body: '[]' },
  null: { headers: JSON_TYPE, body: 'null' },
  'a number': { headers: JSON_TYPE, body: '12' },
  'a string': { headers: JSON_TYPE, body: '"x"' },
  'a space': { headers: JSON_TYPE, body: ' ' },
  'broken JSON': { headers: JSON_TYPE, body: '{' },
  'JSON that is not UTF-8': { headers: JSON_TYPE, body: invalidUtf8 },
  'a very large one': { headers: JSON_TYPE, body: JSON.stringify('x'.repeat(65 * KIB)) },
};

t.test('a body where none is documented is 400, whatever its type, its framing and the method', async (t) => {
  for (const operation of bodiless) {
    const scene = await stage.set(operation);
    const passed: string[] = [];
    for (const [what, { headers, body = '' }] of Object.entries(strays)) {
      for (const [framing, more] of Object.entries(framings)) {
        const answer = await sendScene(scene, { headers: { ...headers, ...more }, body });
        if (answer.status !== 400 || problemsOf(answer).join() !== 'body.') passed.push(`${what} ${framing}`);
        if (operation.method !== 'GET') continue;
        const head = await sendScene(scene, { headers: { ...headers, ...more }, body }, 'HEAD');
        if (head.status !== 400) passed.push(`HEAD: ${what} ${framing}`);
      }
    }
    t.same(passed, [], operation.id);
  }
});

t.test('where none is documented the fields of a JSON body are named, and a friend route names the body', async (t) => {
  for (const operation of bodiless) {
    const scene = await stage.set(operation);
    for (const more of Object.values(framings)) {
      const answer = await sendScene(scene, { headers: { ...JSON_TYPE, ...more }, body: '{"a":1,"__proto__":2}' });
      t.equal(answer.status, 400, operation.id);
      t.same(problemsOf(answer), operation.refusesEmptyObject ? ['body.'] : ['body.a', 'body.__proto__']);
    }
  }
});

t.test('an empty JSON object passes where no body is documented, but for friend routes', async (t) => {
  for (const operation of bodiless) {
    for (const more of Object.values(framings)) {
      const answer = await sendScene(await stage.set(operation), { headers: { ...JSON_TYPE, ...more }, body: ' {} ' });
      if (operation.refusesEmptyObject) t.same([answer.status, ...problemsOf(answer)], [400, 'body.'], operation.id);
      else t.ok(answer.status < 300, operation.id);
    }
  }
  t.same(
    bodiless.filter(({ refusesEmptyObject }) => refusesEmptyObject).map(({ id }) => id),
    bodiless.filter(({ path }) => path.startsWith('/friends')).map(({ id }) => id),
    'friend routes, and they alone, take no body at all',
  );
});

const nothings: Record<string, OutgoingHttpHeaders> = {
  nothing: {},
  'a length of 0': { 'Content-Length': 0 },
  'a length of 0, as JSON': { 'Content-Length': 0, ...JSON_TYPE },
  'a length of 0, as a form': { 'Content-Length': 0, ...FORM_TYPE },
  'a length of 0, as a form without boundary': { 'Content-Length': 0, 'Content-Type': 'multipart/form-data' },
  'a length of 0, as a text': { 'Content-Length': 0, 'Content-Type': 'text/plain' },
  'a length of 0, of no readable type': { 'Content-Length': 0, 'Content-Type': ';;' },
  'a type alone': JSON_TYPE,
  'no chunks': CHUNKED,
  'no chunks, as JSON': { ...CHUNKED, ...JSON_TYPE },
  'no chunks, as a form': { ...CHUNKED, ...FORM_TYPE },
  'no chunks, as a form without boundary': { ...CHUNKED, 'Content-Type': 'multipart/form-data' },
  'no chunks, of no readable type': { ...CHUNKED, 'Content-Type': 'json' },
};

t.test('zero bytes are no body, however they are framed and typed', async (t) => {
  for (const operation of bodiless) {
    const refused: string[] = [];
    for (const [what, headers] of Object.entries(nothings)) {
      const answer = await sendScene(await stage.set(operation), { headers });
      if (answer.status >= 300) refused.push(`${what}: ${answer.status}`);
    }
    t.same(refused, [], operation.id);
  }
});

t.test('a required body that is absent is 400, and every required field is named', async (t) => {
  for (const operation of withBody) {
    const scene = await stage.set(operation);
    const required = (operation.requestBody?.schema.required ?? ['']) as string[];
    for (const [what, headers] of Object.entries(nothings)) {
      const answer = await sendScene(scene, { headers });
      t.equal(answer.status, 400, `${operation.id}: ${what}`);
      t.same(
        problemsOf(answer),
        required.map((name) => `body.${name}`),
        `${operation.id}: ${what}`,
      );
    }
  }
});

t.test('a body of a type that the operation does not take is 415, and the answer says which it takes', async (t) => {
  const types = ['text/plain', 'application/octet-stream', 'application/x-www-form-urlencoded', 'application/xml'];
  const near = [
    'application/json5',
    'application/merge-patch+json',
    'multipart/mixed; boundary=edge',
    'json',
    ';;',
    '',
  ];
  for (const operation of withBody) {
    const scene = await stage.set(operation);
    const other = isForm(operation) ? 'application/json' : FORM_TYPE['Content-Type'];
    for (const type of [...types, ...near, other, undefined]) {
      for (const more of Object.values(framings)) {
        const headers = { ...(type !== undefined && { 'Content-Type': type }), ...more };
        const answer = await sendScene(scene, { headers, body: JSON.stringify(scene.fields) });
        t.equal(answer.status, 415, `${operation.id}: ${type}`);
        t.match(answer.body.message, operation.requestBody?.mediaType);
      }
    }
  }
});

t.test('a type may be written in any case of letters, and with parameters', async (t) => {
  for (const operation of withJson) {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json ;charset="UTF-8"']) {
      const scene = await stage.set(operation);
      const answer = await sendScene(scene, { headers: { 'Content-Type': type }, body: JSON.stringify(scene.fields) });
      t.ok(answer.status < 300, `${operation.id}: ${type}`);
    }
  }
});

t.test('a body that is no JSON object in UTF-8 is 400', async (t) => {
  const bodies = ['{', '{"email":}', "{'email':'a'}", 'undefined', 'null', '[]', '[{}]', '"x"', '12', 'true', ' '];
  for (const operation of withJson) {
    const scene = await stage.set(operation);
    for (const body of [...bodies, `${JSON.stringify(scene.fields)}}`, invalidUtf8]) {
      const answer = await sendScene(scene, { headers: JSON_TYPE, body });
      t.equal(answer.status, 400, `${operation.id}: ${body}`);
      t.same(problemsOf(answer), ['body.']);
    }
  }
});

t.test('a JSON body may have 64 KiB and no more', async (t) => {
  for (const operation of withJson) {
    const scene = await stage.set(operation);
    const weighing = (bytes: number) => JSON.stringify(scene.fields).padEnd(bytes);
    for (const more of Object.values(framings)) {
      const headers = { ...JSON_TYPE, ...more };
      const within = await sendScene(await stage.set(operation), { headers, body: weighing(64 * KIB) });
      t.not(within.status, 413, operation.id);
      const beyond = await sendScene(scene, { headers, body: weighing(64 * KIB + 1) });
      t.equal(beyond.status, 413, operation.id);
      t.same(Object.keys(beyond.body), ['message']);
    }
  }
});

t.test('the answer to a body that is refused unread goes out, and the connection serves on', async (t) => {
  const large = 'x'.repeat(900 * KIB);
  for (const [status, type] of [
    [413, 'application/json'],
    [415, 'text/plain'],
  ]) {
    const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${large.length}\r\n\r\n`;
    const received = await writeBytes(
      t,
      service.url,
      `${head}${large}GET /openapi.yaml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    t.match(received, new RegExp(`^HTTP/1.1 ${status} [^]*HTTP/1.1 200 `));
  }
});

t.test('a form that is malformed is 400, with what else is wrong', async (t) => {
  const field = 'Content-Disposition: form-data; name="title"\r\n\r\nA title';
  const forms: Record<string, Sent> = {
    'no boundary': { headers: { 'Content-Type': 'multipart/form-data' }, body: `--edge\r\n${field}\r\n--edge--\r\n` },
    'another boundary': { headers: FORM_TYPE, body: `--other\r\n${field}\r\n--other--\r\n` },
    'cut in a field': { headers: FORM_TYPE, body: `--edge\r\n${field}` },
    'cut in a header': { headers: FORM_TYPE, body: '--edge\r\nContent-Dis' },
    'cut before its closing boundary': { headers: FORM_TYPE, body: `--edge\r\n${field}\r\n--edge\r\n` },
    'a part without a name': {
      headers: FORM_TYPE,
      body: '--edge\r\nContent-Type: text/plain\r\n\r\nx\r\n--edge--\r\n',
    },
    'no form at all': { headers: FORM_TYPE, body: '{}' },
  };
  for (const operation of withForm) {
    const scene = await stage.set(operation);
    for (const [what, { headers, body = '' }] of Object.entries(forms)) {
      for (const more of Object.values(framings)) {
        const answer = await sendScene(scene, { headers: { ...headers, ...more }, body });
        t.equal(answer.status, 400, `${operation.id}: ${what}`);
        t.same(problemsOf(answer), ['body.']);
      }
      const both = await sendScene({ ...scene, path: `${operation.path}?page=1` }, { headers: headers ?? {}, body });
      const ids = operation.query.map(({ name }) => `query.${name}`);
      t.same(problemsOf(both).sort(), ['body.', 'query.page', ...ids].sort(), `${operation.id}: ${what}, and a query`);
    }
  }
});

t.test('an empty form is a body without fields', async (t) => {
  for (const operation of withForm) {
    const required = (operation.requestBody?.schema.required ?? ['']) as string[];
    const answer = await sendScene(await stage.set(operation), { headers: FORM_TYPE, body: '--edge--\r\n' });
    t.equal(answer.status, 400, operation.id);
    t.same(
      problemsOf(answer),
      required.map((name) => `body.${name}`),
    );
  }
});

t.test('a file may have as many bytes as the operator says, a form 256 KiB more; beyond is 413', async (t) => {
  const image = (bytes: number) => Buffer.concat([samples.png, Buffer.alloc(bytes - samples.png.length)]);
  const form = ({ fields = {} }: Scene, file: Buffer, padding = 0) => {
    const texts = Object.entries(fields).filter(([name]) => name !== 'remove_image');
    const parts = texts.map(([name, value]) => Buffer.from(`${partHead(name)}\r\n\r\n${value}\r\n`));
    const head = Buffer.from(`${partHead('image')}; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`);
    const preamble = Buffer.from(`${'-'.repeat(padding)}\r\n`);
    return Buffer.concat([preamble, ...parts, head, file, Buffer.from('\r\n--edge--\r\n')]);
  };
  const expectStatus = async (operation: ContractOperation, bodyOf: (scene: Scene) => Buffer, expected: RegExp) => {
    for (const [framing, more] of Object.entries(framings)) {
      const scene = await stage.set(operation);
      const answer: Answer = await sendScene(scene, { headers: { ...FORM_TYPE, ...more }, body: bodyOf(scene) });
      t.match(String(answer.status), expected, `${operation.id} ${framing}`);
    }
  };
  for (const operation of withForm) {
    await expectStatus(operation, (scene) => form(scene, image(IMAGE_LIMIT)), /^20[01]$/);
    await expectStatus(operation, (scene) => form(scene, image(IMAGE_LIMIT + 1)), /^413$/);
    const limit = IMAGE_LIMIT + 256 * KIB;
    const filled = (scene: Scene, bytes: number) =>
      form(scene, image(IMAGE_LIMIT), bytes - form(scene, image(IMAGE_LIMIT)).length);
    await expectStatus(operation, (scene) => filled(scene, limit), /^20[01]$/);
    await expectStatus(operation, (scene) => filled(scene, limit + 1), /^413$/);
  }
});

const partHead = (name: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"`;
