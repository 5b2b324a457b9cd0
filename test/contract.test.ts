import t from 'tap';
import { serializers } from '../generated/serializers.js';
import type { FieldProblem } from '../handlers/errors.js';
import { type ContractOperation, contract } from '../scripts/contract-test/client/index.js';
import { PNG_SIGNATURE, pngHeader } from '../scripts/support/png.js';
import { createPost, PASSWORD, picture, startTestService } from './support/service.js';

const service = await startTestService(t);

const withBody = contract.filter(({ requestBody }) => requestBody);

t.test('only friend routes reject an empty JSON object', async (t) => {
  for (const { id, path, refusesEmptyObject } of contract) t.equal(refusesEmptyObject, path.startsWith('/friends'), id);
});

t.test('every documented example of a body is accepted', async (t) => {
  /** Sends an example with the credentials of a new user. */
  async function sendExample({ id, method, path, requestBody }: ContractOperation, example: object) {
    const user = await service.createUser();
    const query = id === 'editPost' ? `?id=${(await createPost(user)).id}` : '';
    const known: Record<string, unknown> = { current_password: PASSWORD };
    if (id === 'login') Object.assign(known, { email: user.email, password: PASSWORD });
    if (id === 'deleteAccount') known.password = PASSWORD;
    const fields = Object.entries(example).map(([name, value]) => [name, known[name] ?? value]);
    if (requestBody?.mediaType === 'application/json')
      return user.send(method, path, { json: Object.fromEntries(fields) });
    const form = Object.fromEntries(fields.map(([name, value]) => [name, name === 'image' ? picture() : `${value}`]));
    return user.send(method, path + query, { form });
  }
  for (const operation of withBody) {
    const success = Math.min(...Object.keys(operation.responses).map(Number));
    const examples = Object.entries(operation.requestBody?.examples ?? {});
    t.ok(examples.length > 0);
    t.notOk('image' in (examples[0]?.[1].value ?? {}), `${operation.id}: tools cannot send the file of an example`);
    for (const [name, { value }] of examples) {
      t.equal((await sendExample(operation, value)).status, success, `${operation.id} ${name}`);
    }
  }
});

// The contract tests check codes. These English texts name limits and types, which a client can show to its user.
t.test('messages name the limits of openapi.yaml, and the type of a file', async (t) => {
  const { send } = await service.createUser();
  const title = 'A title';
  const text = 'A text';
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  const password = 'Quiet-Harbor-28';
  for (const [method, path, options, expected] of [
    ['POST', '/posts/create', { form: { title: 'x'.repeat(201), text } }, 'title must have at most 200 characters'],
    [
      'POST',
      '/posts/create',
      { form: { title, text, image: new Blob(['%PDF-1.7']) } },
      'image must be a JPEG, PNG, GIF, WebP or AVIF image, not PDF',
    ],
    [
      'POST',
      '/posts/create',
      { form: { title, text, image: new Blob([PNG_SIGNATURE, pngHeader(16_385, 16_384)]) } },
      'image must have at most 268,435,456 pixels in total',
    ],
    ...['', '<?xml version="1.0"?>\n'].map(
      (declaration) =>
        [
          'POST',
          '/posts/create',
          { form: { title, text, image: new Blob([declaration, svg]) } },
          'image must be a JPEG, PNG, GIF, WebP or AVIF image, not SVG',
        ] as const,
    ),
    ['PUT', '/profiles/me', { form: { password } }, 'current_password is required to change the password'],
    ['GET', '/posts?limit=0', {}, 'limit must be an integer between 1 and 100'],
  ] as const) {
    const { status, body } = await send(method, path, options);
    t.equal(status, 400);
    t.same(
      body.errors.map((problem: FieldProblem) => `${problem.field} ${problem.message}`),
      [expected],
    );
  }
});

t.test('the operations port serves no API route, and the API port no operations route', async (t) => {
  const { url, opsUrl } = service;
  for (const { path } of contract) t.equal((await fetch(opsUrl + path)).status, 404, path);
  for (const path of ['/livez', '/readyz', '/metrics']) t.equal((await fetch(url + path)).status, 404, path);
});

const SECRETS = {
  password: 's3cret',
  password_hash: '$argon2id$',
  passwordHash: '$argon2id$',
  token_version: 3,
  tokenVersion: 3,
  email: 'mira@people.example',
  token: 'a.b.c',
};

const serializersByStatus: Record<string, Record<string, (body: unknown) => string>> = serializers;

t.test('a serializer omits fields that the contract does not declare for the response', async (t) => {
  for (const operation of contract) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const media = content?.['application/json'] as
        | { schema: { type?: string; items?: object }; examples: object }
        | undefined;
      if (!media) continue;
      const serialize = serializersByStatus[operation.id]?.[status];
      t.ok(serialize, `${operation.id} ${status} has a serializer`);
      for (const { value } of Object.values(media.examples)) {
        const valueWithSecrets = withSecrets(value);
        t.same(JSON.parse(serialize?.(valueWithSecrets) ?? ''), value, `${operation.id} ${status}`);
      }
    }
  }
});

/** Returns the value with secret fields added to every object in it. */
function withSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withSecrets(field)]));
  return { ...SECRETS, ...inner };
}
