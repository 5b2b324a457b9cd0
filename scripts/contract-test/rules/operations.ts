import type { Cast } from '../cast.js';
import type { Sent } from '../client.js';
import { type ContractOperation, contract } from '../document.js';
import { errorShape, problems, rule, type Subject, same } from '../rule.js';

const nameOf = ({ method, path }: ContractOperation) => `${method} ${path}`;

/** A request of this operation that is sound, as far as the document can say; what it names need not exist. */
export function sound(operation: ContractOperation, query: string[] = []): string {
  const path = operation.path.replace('{filename}', 'none.png').replace(/\{\w+\}/, '9007199254740991');
  const parameters = [...operation.query.map(({ name }) => `${name}=${name === 'limit' ? 1 : 7}`), ...query];
  return `${operation.method} ${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

/** The body of the document's first example, with more fields. */
export function bodyOf({ requestBody }: ContractOperation, more: Record<string, string> = {}): Sent {
  const [example] = Object.values(requestBody?.examples ?? {});
  if (!requestBody || !example) return {};
  const fields = { ...example.value, ...more };
  if (requestBody.mediaType === 'application/json') return { json: fields };
  return { form: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])) };
}

async function askerOf(cast: Cast, { secured }: ContractOperation) {
  return secured ? cast.person('ada') : cast.nobody;
}

const secured = contract.filter((operation) => operation.secured);
const withBody = contract.filter(({ requestBody }) => requestBody);
const bodiless = contract.filter(({ requestBody }) => !requestBody);
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** What holds for every operation of the contract alike, each by itself. */
export const operations: Subject = {
  name: 'Every operation',
  rules: [
    ...secured.map((operation) =>
      rule(
        'Authentication 1',
        `Every endpoint requires credentials, before anything else is looked at: ${nameOf(operation)}`,
        async (cast) => {
          const answer = await cast.nobody.ask(401, sound(operation, ['page=1']), { headers: JSON_TYPE, body: '{' });
          same(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
          same(errorShape(answer), 'the fields', Object.keys(answer.body), ['message']);
        },
      ),
    ),

    ...contract.map((operation) =>
      rule('Endpoints', `Any undocumented query field gives 400: ${nameOf(operation)}`, async (cast) => {
        const { ask } = await askerOf(cast, operation);
        const answer = await ask(400, sound(operation, ['page=1']), bodyOf(operation));
        errorShape(problems(answer, 'query.page'));
      }),
    ),

    ...withBody.map((operation) =>
      rule('Endpoints', `Any undocumented body field gives 400: ${nameOf(operation)}`, async (cast) => {
        const { ask } = await askerOf(cast, operation);
        problems(await ask(400, sound(operation), bodyOf(operation, { nickname: 'x' })), 'body.nickname');
      }),
    ),

    ...withBody.map((operation) =>
      rule('Status codes', `a body type the operation does not take: 415: ${nameOf(operation)}`, async (cast) => {
        const { ask } = await askerOf(cast, operation);
        const headers = { 'Content-Type': 'text/plain' };
        errorShape(await ask(415, sound(operation), { body: 'hello', headers }));
      }),
    ),

    ...bodiless.map((operation) =>
      rule(
        'Status codes',
        `a body on an operation that documents none, whatever its type: 400: ${nameOf(operation)}`,
        async (cast) => {
          const { ask } = await askerOf(cast, operation);
          for (const [body, type] of [
            ['{"extra":1}', 'application/json'],
            ['hello', 'text/plain'],
            ['[]', 'application/json'],
          ] as const) {
            problems(
              await ask(400, sound(operation), { body, headers: { 'Content-Type': type } }),
              type === 'application/json' && body !== '[]' && !operation.refusesEmptyObject ? 'body.extra' : 'body.',
            );
          }
        },
      ),
    ),

    ...bodiless
      .filter(({ refusesEmptyObject }) => refusesEmptyObject)
      .map((operation) =>
        rule('Friends', `never a body, not even an empty object: ${nameOf(operation)}`, async (cast) => {
          const { ask } = await askerOf(cast, operation);
          problems(await ask(400, sound(operation), { json: {} }), 'body.');
        }),
      ),

    rule(
      'Status codes',
      'A JSON {} holds no undocumented field and passes; zero bytes, however typed, are no body',
      async (cast) => {
        const { ask } = await cast.person('ada');
        await ask(200, 'GET /auth/me', { json: {} });
        await ask(200, 'GET /auth/me', { body: '', headers: JSON_TYPE });
        await ask(200, 'GET /friends', { body: '', headers: { 'Content-Type': 'text/plain' } });
      },
    ),

    rule('Status codes', 'a repeated query parameter: 400, with equal values too', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'GET /posts?limit=5&limit=5'), 'query.limit');
      problems(await ask(400, 'POST /posts/like?id=7&id=8'), 'query.id');
    }),

    rule('Status codes', 'a repeated form field: 400', async (cast) => {
      const { ask } = await cast.person('ada');
      const form = new FormData();
      for (const [name, value] of [
        ['title', 'A title'],
        ['title', 'A title'],
        ['text', 'A text'],
      ] as const)
        form.append(name, value);
      problems(await ask(400, 'POST /posts/create', { form }), 'body.title');
    }),

    rule('Endpoints', 'a field by the name of something that every object has is undocumented, too', async (cast) => {
      const { ask } = await cast.person('ada');
      const body = '{"password":"Wrong-Harbour_58","__proto__":{"a":1}}';
      problems(await ask(400, 'DELETE /profiles/me', { body, headers: JSON_TYPE }), 'body.__proto__');
      problems(
        await ask(400, 'POST /posts/create', { form: { title: 'A', text: 'A', constructor: 'x' } }),
        'body.constructor',
      );
      problems(await ask(400, 'GET /posts?__proto__=1'), 'query.__proto__');
    }),

    rule(
      'Representation, errors',
      'Every problem of one request is listed, in its query and in its body',
      async (cast) => {
        const { ask } = await cast.person('ada');
        const form = { title: '', author_id: '1' };
        problems(
          await ask(400, 'POST /posts/create?page=1', { form }),
          'body.author_id',
          'body.text',
          'body.title',
          'query.page',
        );
        problems(await ask(400, 'PUT /posts/edit?id=x', { form }), 'body.author_id', 'body.title', 'query.id');
      },
    ),

    rule('Representation, errors', 'bad JSON, a body that is no object: the same shape', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const body of ['{', '[]', '7', 'null', '"x"']) {
        errorShape(problems(await ask(400, 'DELETE /profiles/me', { body, headers: JSON_TYPE }), 'body.'));
      }
    }),

    rule('Rules', 'A JSON body is at most 64 KiB: 413', async (cast) => {
      const { ask } = await cast.person('ada');
      const json = { password: 'x'.repeat(70_000) };
      const answer = await ask(413, 'DELETE /profiles/me', { json });
      same(errorShape(answer), 'the fields', Object.keys(answer.body), ['message']);
    }),

    rule('Rules', 'NUL is 400 in every query and body', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(
        await ask(400, 'POST /posts/create', { form: { title: 'a\0', text: 'b\0' } }),
        'body.text',
        'body.title',
      );
      problems(await ask(400, 'GET /posts?limit=%00'), 'query.limit');
    }),

    rule('Order of answers', 'media type before shape', async (cast) => {
      const { ask } = await cast.person('ada');
      await ask(415, 'POST /posts/create?page=1', { body: 'hello', headers: { 'Content-Type': 'text/plain' } });
    }),

    rule('Order of answers', 'shape before existence', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'PUT /posts/edit?id=9007199254740991', { form: { title: '' } }), 'body.title');
      problems(await ask(400, 'GET /posts/9007199254740991?page=1'), 'query.page');
    }),

    rule('Order of answers', 'shape before password, password before conflict', async (cast) => {
      const { ask } = await cast.person('ada');
      const { username } = await cast.person('ben');
      const form = { username, current_password: 'Wrong-Harbour_58' };
      problems(await ask(400, 'PUT /profiles/me', { form: { ...form, private: 'maybe' } }), 'body.private');
      await ask(401, 'PUT /profiles/me', { form });
    }),
  ],
};
