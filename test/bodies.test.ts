import t from 'tap';
import type { FieldProblem } from '../handlers/http/errors.js';
import { type ContractOperation, contract } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import { nastyJson, nastyTexts } from './support/nasty-texts.js';
import { createPost, startTestService } from './support/service.js';
import { createWireSender, openConnection } from './support/wire.js';

/* Limits of request bodies, and the cost of texts that are too long. */

const IMAGE_MAX_BYTES = 1000;
const KIB = 1024;
const JSON_MAX_BYTES = 64 * KIB;

/** The maximum length, in UTF-16 code units, of a text that is normalized: an email address of 254 code points. */
const MAX_NORMALIZED_CODE_UNITS = 2 * 254;

const service = await startTestService(t, { UPLOAD_MAX_BYTES: String(IMAGE_MAX_BYTES) });
const send = createWireSender(t, service.url);
const user = await service.createUser();
const { id } = await createPost(user);

const withBody = contract.filter(({ requestBody }) => requestBody);
const isForm = ({ requestBody }: ContractOperation) => requestBody?.mediaType === 'multipart/form-data';
const withForm = withBody.filter(isForm);
const withJson = withBody.filter((operation) => !isForm(operation));

const pathOf = ({ path, query }: ContractOperation) => (query.length > 0 ? `${path}?id=${id}` : path);

/** Sends the operation's first example with these fields replaced. */
function sendExample(operation: ContractOperation, texts: Record<string, string>) {
  const [example] = Object.values(operation.requestBody?.examples ?? {});
  const fields = { ...example?.value, ...texts };
  const form = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return user.send(operation.method, pathOf(operation), isForm(operation) ? { form } : { json: fields });
}

t.test('returns 413 for a file above UPLOAD_MAX_BYTES or a form above UPLOAD_MAX_BYTES + 256 KiB', async (t) => {
  const head = (name: string) => `--edge\r\nContent-Disposition: form-data; name="${name}"`;
  const texts = ['title', 'text'].map((name) => `${head(name)}\r\n\r\nx\r\n`).join('');
  const form = (operation: ContractOperation, imageBytes: number, bytes = 0) => {
    const image = Buffer.concat([samples.png, Buffer.alloc(imageBytes - samples.png.length)]);
    const parts = [
      Buffer.from(`\r\n${operation.id === 'updateProfile' ? '' : texts}`),
      Buffer.from(`${head('image')}; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`),
      ...[image, Buffer.from('\r\n--edge--\r\n')],
    ];
    const length = Buffer.concat(parts).length;
    // A preamble pads the form without being part of a field.
    return Buffer.concat([Buffer.alloc(Math.max(bytes - length, 0), '-'), ...parts]);
  };
  const formMaxBytes = IMAGE_MAX_BYTES + 256 * KIB;
  for (const operation of withForm) {
    const success = Math.min(...Object.keys(operation.responses).map(Number));
    for (const framing of [{}, { 'Transfer-Encoding': 'chunked' }]) {
      for (const [status, imageBytes, bytes] of [
        [success, IMAGE_MAX_BYTES],
        [413, IMAGE_MAX_BYTES + 1],
        [success, IMAGE_MAX_BYTES, formMaxBytes],
        [413, IMAGE_MAX_BYTES, formMaxBytes + 1],
      ] as const) {
        const response = await send(operation.method, pathOf(operation), {
          token: user.token,
          headers: { 'Content-Type': 'multipart/form-data; boundary=edge', ...framing },
          body: form(operation, imageBytes, bytes),
        });
        t.equal(response.status, status, `${operation.id} ${imageBytes} ${bytes}`);
      }
    }
  }
});

t.test('documents and unknown paths do not wait for a body', async (t) => {
  for (const [request, status] of [
    ['GET /docs', 200],
    ['GET /openapi.json', 200],
    ['POST /nothing', 404],
  ] as const) {
    const { socket, until } = openConnection(t, service.url);
    socket.write(`${request} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n`);
    await until(new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

t.test('a 415 names the media type of the operation', async (t) => {
  for (const operation of withBody) {
    const { status, body } = await send(operation.method, pathOf(operation), { token: user.token, body: 'x' });
    t.equal(status, 415, operation.id);
    t.match(body.message, operation.requestBody?.mediaType);
  }
});

/** Returns the length, in code units, of the longest text that is normalized during `work`. */
async function longestNormalized(work: () => Promise<void>): Promise<number> {
  const { normalize } = String.prototype;
  let longest = 0;
  String.prototype.normalize = function (this: string, ...form: []) {
    longest = Math.max(longest, this.length);
    return normalize.apply(this, form);
  };
  await work().finally(() => {
    String.prototype.normalize = normalize;
  });
  return longest;
}

/** Texts that, together with the other fields of an example, fit into a body. */
const nasty = Object.entries(nastyTexts(JSON_MAX_BYTES - KIB));

for (const operation of withBody) {
  t.test(`${operation.id} does not normalize texts that are too long`, async (t) => {
    const properties = operation.requestBody?.schema.properties ?? {};
    const texts = Object.entries(properties).filter(([, { type, format }]) => type === 'string' && format !== 'binary');
    const longest = await longestNormalized(async () => {
      for (const [field] of texts) {
        for (const [what, text] of nasty) {
          const { status, bytes } = await sendExample(operation, { [field]: text });
          // A login does not validate the email.
          const isLoginEmail = operation.id === 'login' && field === 'email';
          const isRejected = status === 400 || (isLoginEmail && status === 401);
          t.ok(isRejected, `${field}: ${what}`, { status });
          t.ok(bytes.length < JSON_MAX_BYTES, `${field}: ${what}: the response is smaller than the largest request`);
        }
      }
    });
    t.ok(longest <= MAX_NORMALIZED_CODE_UNITS, `${longest} code units`);
  });
}

t.test('reports a text that is too long as a single problem', async (t) => {
  for (const operation of withBody) {
    const properties = operation.requestBody?.schema.properties ?? {};
    for (const [field] of Object.entries(properties).filter(([, { maxLength }]) => maxLength)) {
      const { body } = await sendExample(operation, { [field]: '\0'.repeat(10_001) });
      const problems = body.errors.filter((problem: FieldProblem) => problem.field === field);
      t.match(problems, [{ code: 'too_long', message: /^must have at most/ }], `${operation.id}: ${field}`);
      t.equal(problems.length, 1);
    }
  }
});

t.test('a 400 lists at most a hundred problems', async (t) => {
  for (const { id, method, path } of withJson) {
    for (const [what, body] of Object.entries(nastyJson(JSON_MAX_BYTES))) {
      t.ok(Buffer.byteLength(body) <= JSON_MAX_BYTES, what);
      const response = await user.send(method, path, { headers: { 'Content-Type': 'application/json' }, body });
      t.equal(response.status, 400, `${id}: ${what}`);
      t.ok(response.body.errors.length <= 100, `${response.body.errors.length} problems`);
      t.ok(response.bytes.length <= 2 * JSON_MAX_BYTES, `${response.bytes.length} bytes`);
    }
  }
});
