import t from 'tap';
import { operations } from '../generated/routes.js';
import { serializers } from '../generated/serializers.js';
import { misfits } from '../scripts/contract-test/conformance.js';
import { contract, resolvedDocument } from '../scripts/contract-test/document.js';
import { type Answer, problemsOf, startTestService } from './harness.js';
import { asText, isForm, openStage, type Scene, withQuery } from './scenes.js';

const service = await startTestService(t);
const stage = await openStage(service);

const ON_EVERY_ANSWER = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
const lacking = ({ headers }: Answer) => ON_EVERY_ANSWER.filter((name) => !headers.has(name));

/** One scene for every operation to which the rule applies. */
async function* scenes(applies: (operation: (typeof contract)[number]) => unknown = () => true) {
  for (const operation of contract.filter(applies)) yield await stage.set(operation);
}

const secured = contract.filter((operation) => operation.secured);
const withJson = contract.filter(({ requestBody }) => requestBody?.mediaType === 'application/json');
const withForm = contract.filter(isForm);

t.test('no operation of the contract is without its scene here, or without its route in the service', async (t) => {
  const ids = contract.map(({ id }) => id).sort();
  t.same([...stage.operations].sort(), ids);
  t.same(Object.keys(operations).sort(), ids);
  t.ok(secured.length > 0 && withJson.length > 0 && withForm.length > 0);
});

t.test('every example of the document is valid by the schema beside it', async (t) => {
  let checked = 0;
  const wrong: Record<string, string[]> = {};
  const walk = (node: unknown, place: string) => {
    if (typeof node !== 'object' || node === null) return;
    for (const { schema, value } of examplesAt(node)) {
      checked++;
      const found = misfits(schema, value);
      if (found.length > 0) wrong[`${place}: ${JSON.stringify(value)}`] = found;
    }
    for (const [key, inner] of Object.entries(node)) walk(inner, `${place}/${key}`);
  };
  walk(resolvedDocument.paths, '');
  t.same(wrong, {});
  t.ok(checked > 1000, `${checked} examples`);
});

/** The examples of a schema, or of what has a schema. */
function examplesAt(node: object) {
  const { schema, type, example, examples = {} } = node as Record<string, never> & { examples?: object };
  const values = Array.isArray(examples) ? examples : Object.values(examples).map(({ value }) => value);
  const all = example === undefined ? values : [...values, example];
  const judge = schema ?? (type && node);
  return judge ? all.map((value) => ({ schema: judge as Record<string, unknown>, value })) : [];
}

t.test('every documented example of a request is answered with the success that is declared', async (t) => {
  for (const operation of contract) {
    const declared = Object.keys(operation.responses).map(Number);
    for (const example of Object.keys(operation.requestBody?.examples ?? { none: undefined })) {
      const answer = await stage.ask(await stage.set(operation, example));
      t.equal(answer.status, Math.min(...declared), `${operation.id} ${example}`);
      t.same(lacking(answer), [], `${operation.id} ${example}: headers`);
    }
  }
});

t.test('without good credentials every secured operation is 401, and says which scheme it takes', async (t) => {
  const { token } = await service.person();
  const cookie = `fc_session_token=${token}`;
  for await (const { operation, path } of scenes(({ secured }) => secured)) {
    for (const [what, headers] of Object.entries<Record<string, string>>({
      'no credentials': {},
      'a bad token': { Authorization: `Bearer ${token}x` },
      'another scheme, beside a good cookie': { Authorization: 'Basic bWlyYTptaXJh', Cookie: cookie },
      'a bad cookie': { Cookie: `${cookie}x` },
    })) {
      const answer = await service.ask(operation.method, path, { headers });
      t.equal(answer.status, 401, `${operation.id}: ${what}`);
      t.equal(answer.headers.get('www-authenticate'), 'Bearer');
      t.same(Object.keys(answer.body), ['message']);
      t.same(lacking(answer), []);
    }
  }
});

t.test('registration and login ask for no credentials, and mind no bad ones', async (t) => {
  for await (const scene of scenes(({ secured }) => !secured)) {
    const { operation, path, fields } = scene;
    const headers = { Authorization: 'Bearer stale', Cookie: 'fc_session_token=stale' };
    const answer = await service.ask(operation.method, path, { json: fields, headers });
    t.ok(answer.status < 300, operation.id);
  }
});

t.test('a query parameter that is not documented is named', async (t) => {
  for await (const scene of scenes()) {
    for (const name of ['page', '__proto__', 'ID', 'id[]']) {
      const answer = await stage.ask(scene, { query: `${encodeURIComponent(name)}=1` });
      t.equal(answer.status, 400, `${scene.operation.id}: ${name}`);
      t.same(problemsOf(answer), [`query.${name}`]);
    }
  }
});

t.test('a query parameter that is given twice is named, with equal values too', async (t) => {
  for await (const scene of scenes(({ query }) => query.length > 0)) {
    const { searchParams } = new URL(scene.path, service.url);
    for (const [name, value] of searchParams) {
      const answer = await stage.ask(scene, { query: `${name}=${value}` });
      t.equal(answer.status, 400, `${scene.operation.id}: ${name}`);
      t.same(problemsOf(answer), [`query.${name}`]);
      t.equal(answer.body.errors[0].message, 'must be given once');
    }
  }
});

t.test(
  'query parameters hold whole numbers within their bounds, spelled plainly, and required ones are there',
  async (t) => {
    const spellings = ['', '01', '+1', '1.0', '1e3', '0x1', ' 1', '1,2', 'one', 'null', '99999999999999999999'];
    for await (const scene of scenes(({ query }) => query.length > 0)) {
      for (const { name, required, schema } of scene.operation.query) {
        const { minimum, maximum } = schema as { minimum: number; maximum: number };
        const ask = (value: string | undefined) => {
          const url = new URL(scene.path, service.url);
          url.searchParams.delete(name);
          if (value !== undefined) url.searchParams.set(name, value);
          return stage.ask({ ...scene, path: url.pathname + url.search });
        };
        for (const value of [...spellings, String(minimum - 1), String(BigInt(maximum) + 1n)]) {
          const answer = await ask(value);
          t.equal(answer.status, 400, `${scene.operation.id}: ${name}=${value}`);
          t.same(problemsOf(answer), [`query.${name}`]);
        }
        t.not((await ask(String(maximum))).status, 400, `${scene.operation.id}: the largest ${name}`);
        const without = await ask(undefined);
        t.same(problemsOf(without), required ? [`query.${name}`] : [], `${scene.operation.id}: no ${name}`);
      }
    }
  },
);

t.test('a path that holds what no id or name can be names nothing', async (t) => {
  const values = [
    '0',
    '01',
    '1e3',
    '-1',
    'abc',
    '%00',
    '%F0%9F%90%9F',
    '..%2f..%2fetc',
    '9007199254740993',
    '7'.repeat(999),
  ];
  const applies = ({ path }: { path: string }) => path.includes('{');
  for await (const { operation, token } of scenes(applies)) {
    for (const value of values) {
      const path = operation.path.replace(/\{\w+\}/, value);
      const answer = await service.ask(operation.method, path, { token: token ?? '' });
      t.equal(answer.status, 404, `${operation.id}: ${value.slice(0, 20)}`);
    }
  }
});

t.test('a body field that is not documented is named', async (t) => {
  for await (const scene of scenes(({ requestBody }) => requestBody)) {
    for (const name of ['nickname', 'author_id', 'constructor', 'Email']) {
      const answer = await stage.ask(scene, { fields: { [name]: 'x' } });
      t.equal(answer.status, 400, `${scene.operation.id}: ${name}`);
      t.same(problemsOf(answer), [`body.${name}`]);
    }
    const { operation, path, token, fields } = scene;
    const ask = { ...(token !== undefined && { token }) };
    const [name, answer] = isForm(operation)
      ? ['__proto__', await service.ask(operation.method, path, { ...ask, body: formOf(scene, ['__proto__', 'x']) })]
      : ['__proto__', await service.ask(operation.method, path, { ...ask, ...rawJson(fields, '"__proto__":{"a":1}') })];
    t.equal(answer.status, 400, `${operation.id}: ${name}`);
    t.same(problemsOf(answer), ['body.__proto__']);
  }
});

const rawJson = (fields: object | undefined, more: string) => ({
  headers: { 'Content-Type': 'application/json' },
  body: `${JSON.stringify(fields).slice(0, -1)},${more}}`,
});

/** The scene's form, and a text field more. */
function formOf({ fields = {} }: Scene, [name, value]: [string, string]): FormData {
  const form = new FormData();
  for (const [known, text] of Object.entries(asText(fields))) form.append(known, text);
  form.append(name, value);
  return form;
}

t.test('a form field that is given twice is named, with equal values too', async (t) => {
  for (const operation of withForm) {
    for (const example of Object.keys(operation.requestBody?.examples ?? {})) {
      const scene = await stage.set(operation, example);
      for (const [name, value] of Object.entries(asText(scene.fields ?? {}))) {
        const answer = await service.ask(operation.method, scene.path, {
          token: scene.token ?? '',
          body: formOf(scene, [name, value]),
        });
        t.equal(answer.status, 400, `${operation.id}: ${name}`);
        t.same(problemsOf(answer), [`body.${name}`]);
      }
    }
  }
});

t.test('a JSON field of another type than documented is named, and nothing is taken for what it is not', async (t) => {
  for await (const scene of scenes((operation) => withJson.includes(operation))) {
    for (const name of Object.keys(scene.fields ?? {})) {
      for (const value of [null, 12, true, [], ['x'], {}]) {
        const answer = await stage.ask(scene, { fields: { [name]: value } });
        t.equal(answer.status, 400, `${scene.operation.id}: ${name} ${JSON.stringify(value)}`);
        t.ok(problemsOf(answer).includes(`body.${name}`));
      }
    }
  }
});

t.test('NUL and unpaired surrogates are refused in every text, and the field is named', async (t) => {
  for await (const scene of scenes((operation) => withJson.includes(operation))) {
    for (const [name, value] of Object.entries(scene.fields ?? {})) {
      for (const bad of ['\0', '\ud800', '\udc00']) {
        const answer = await stage.ask(scene, { fields: { [name]: `${value}${bad}` } });
        t.equal(answer.status, 400, `${scene.operation.id}: ${name}`);
        t.same([...new Set(problemsOf(answer))], [`body.${name}`]);
      }
    }
  }
  for (const operation of withForm) {
    const scene = await stage.set(operation);
    const texts = Object.entries(scene.fields ?? {}).filter(([, value]) => typeof value === 'string');
    for (const [name, value] of texts) {
      const answer = await stage.ask(scene, { fields: { [name]: `${value}\0` } });
      t.equal(answer.status, 400, `${operation.id}: ${name}`);
      t.same(problemsOf(answer), [`body.${name}`]);
    }
  }
});

t.test('all problems of a request are reported at once, in its query and in its body', async (t) => {
  for await (const scene of scenes(({ requestBody }) => requestBody)) {
    const { operation } = scene;
    const required = (operation.requestBody?.schema.required ?? []) as string[];
    const { pathname } = new URL(scene.path, service.url);
    const answer = await stage.ask(
      { ...scene, path: withQuery(pathname, 'page=1'), fields: {} },
      { fields: { nickname: 'x' } },
    );
    t.equal(answer.status, 400, operation.id);
    t.same(
      problemsOf(answer).sort(),
      [
        'body.nickname',
        'query.page',
        ...operation.query.map(({ name }) => `query.${name}`),
        ...required.map((name) => `body.${name}`),
      ].sort(),
    );
  }
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

t.test('a serializer lets out what the contract names for that answer, and nothing else', async (t) => {
  for (const operation of contract) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const media = content?.['application/json'] as
        | { schema: { type?: string; items?: object }; examples: object }
        | undefined;
      if (!media) continue;
      const serialize = serializers[operation.id as keyof typeof serializers][Number(status)];
      t.ok(serialize, `${operation.id} ${status} has one`);
      for (const { value } of Object.values(media.examples)) {
        const laden = withSecrets(value);
        t.same(JSON.parse(serialize?.(laden) ?? ''), value, `${operation.id} ${status}`);
      }
    }
  }
});

/** The same value, every object in it with fields that it does not have. */
function withSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withSecrets(field)]));
  return { ...SECRETS, ...inner };
}

const SECRET = /\$argon2|[\w-]+-Harbour-27|eyJ[\w-]+\.|"(password|current_password|token|hash|salt)\w*":/;

t.test('no answer holds a password, a hash, or a token but login’s; nor does the log', async (t) => {
  for (const operation of contract) {
    const scene = await stage.set(operation);
    const guess = scene.fields && { password: 'Wrong-Harbour-27!', current_password: 'Wrong-Harbour-27!' };
    const refused = await stage.ask(scene, { query: 'password=Quiet-Harbour-27!', ...(guess && { fields: guess }) });
    const answer = await stage.ask(scene);
    if (operation.id === 'login') delete answer.body.token;
    for (const { body } of [refused, answer]) {
      t.notMatch(JSON.stringify(body ?? null), SECRET, operation.id);
    }
  }
  t.notMatch(service.logged(), SECRET);
});
