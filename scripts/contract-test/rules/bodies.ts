import { type ContractOperation, contract, methodAndPath } from '../document.js';
import type { RequestOptions } from '../exchange.js';
import { expectErrorShape, expectProblems, expectThat } from '../expect.js';
import { CHUNKED, contentType, rawForm, UNUSED_ID } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';
import { exampleBody, validRequest } from './operations.js';

/** Spellings of an integer that lenient parsers accept. The contract accepts the canonical form only. */
const INTEGER_SPELLINGS: [description: string, rewrite: (digits: string) => string][] = [
  ['empty', () => ''],
  ['a blank', () => '%20'],
  ['with a plus sign', (digits) => `%2B${digits}`],
  ['with a blank before it', (digits) => `%20${digits}`],
  ['with a blank before it, encoded as a plus', (digits) => `+${digits}`],
  ['with a blank after it', (digits) => `${digits}%20`],
  ['with a leading zero', (digits) => `0${digits}`],
  ['with decimals', (digits) => `${digits}.0`],
  ['with an exponent', (digits) => `${digits}e0`],
  ['hexadecimal', (digits) => `0x${Number(digits).toString(16)}`],
  [
    'in full-width digits',
    (digits) => encodeURIComponent(digits.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))),
  ],
  [
    'in Arabic digits',
    (digits) => encodeURIComponent(digits.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))),
  ],
  ['followed by a letter', (digits) => `${digits}n`],
  ['followed by NUL', (digits) => `${digits}%00`],
  ['negative', (digits) => `-${digits}`],
  ['beyond 2^53', () => '9007199254740993'],
  ['beyond 2^64', () => '18446744073709551617'],
  ['a word', () => 'five'],
];

const isInteger = ({ schema }: { schema: object }) => 'type' in schema && schema.type === 'integer';

/** Returns the integers just outside the range of a schema. */
const outOfRange = ({ minimum, maximum }: { minimum?: number; maximum?: number }): string[] => [
  ...(minimum === undefined ? [] : [String(minimum - 1)]),
  ...(maximum === undefined ? [] : [String(BigInt(maximum) + 1n)]),
];

const withIntegers = contract.filter(({ query }) => query.some(isInteger));

/** Returns a request in which every query parameter is an integer, rewritten in the same way. */
function requestWithIntegers(operation: ContractOperation, rewrite: (digits: string) => string): string {
  const values = operation.query.map(({ name, schema }) => {
    const { maximum } = schema as { maximum?: number };
    // An unused id, so that a request that is wrongly accepted changes nothing.
    return `${name}=${rewrite(maximum === UNUSED_ID ? String(UNUSED_ID) : '5')}`;
  });
  return `${operation.method} ${operation.path}?${values.join('&')}`;
}

const getUser = (users: TestUsers) => users.sharedUser('bodies');

/** Returns the user who sends the request. `logout` gets its own user, whose session may end. */
const getSender = async (
  users: TestUsers,
  { id, secured }: ContractOperation,
  rules = 'bodies',
): Promise<Pick<User, 'send'>> => {
  if (!secured) return users.anonymous;
  return id === 'logout' ? users.sharedUser(`${rules} of logout`) : getUser(users);
};

const queryRules = withIntegers.map((operation) =>
  rule(
    `integers.query.${operation.id}`,
    `${methodAndPath(operation)} accepts integers in the query in their canonical form only. Other spellings and values out of range return 400 and name the parameter.`,
    async (users) => {
      const { send } = await getUser(users);
      const allParameters = operation.query.map(({ name }) => `query.${name}`);
      await Promise.all(
        INTEGER_SPELLINGS.map(async ([description, rewrite]) => {
          const response = await send(
            [200, 400, 403, 404, 409],
            requestWithIntegers(operation, rewrite),
            exampleBody(operation),
          );
          expectThat(response.status === 400, `400 for an integer in another form (${description})`, response);
          expectProblems(response, ...allParameters);
        }),
      );
      for (const { name, schema } of operation.query) {
        for (const value of outOfRange(schema as { minimum?: number; maximum?: number })) {
          const others = operation.query.filter((parameter) => parameter.name !== name);
          const query = [`${name}=${value}`, ...others.map((other) => `${other.name}=5`)].join('&');
          const response = await send(400, `${operation.method} ${operation.path}?${query}`, exampleBody(operation));
          expectProblems(response, `query.${name}`);
        }
      }
      const required = operation.query.filter((parameter) => parameter.required).map(({ name }) => `query.${name}`);
      if (required.length > 0)
        expectProblems(await send(400, `${operation.method} ${operation.path}`, exampleBody(operation)), ...required);
      for (const { name } of operation.query) {
        const repeated = operation.query.map((parameter) => `${parameter.name}=5`).join('&');
        expectProblems(
          await send(400, `${operation.method} ${operation.path}?${repeated}&${name}=5`, exampleBody(operation)),
          `query.${name}`,
        );
      }
    },
  ),
);

const withPathIds = contract.filter(({ pathParameters }) => pathParameters.some(isInteger));

const pathRules = withPathIds.map((operation) =>
  rule(
    `integers.path.${operation.id}`,
    `${methodAndPath(operation)} accepts an id in the path in its canonical form only. Other spellings return 404, even of an existing id.`,
    async (users) => {
      const reader = await getUser(users);
      const { body } = await reader.send(
        201,
        'POST /posts/create',
        rawForm({ name: 'title', content: 'A title' }, { name: 'text', content: 'A text' }),
      );
      const existing = operation.path.startsWith('/posts') ? body.id : reader.id;
      const request = (value: string) => `${operation.method} ${operation.path.replace(/\{\w+\}/, value)}`;
      await reader.send(200, request(String(existing)));
      await Promise.all(
        INTEGER_SPELLINGS.filter(([description]) => description !== 'empty').map(async ([description, rewrite]) => {
          const response = await reader.send([200, 400, 404], request(rewrite(String(existing))));
          expectThat(response.status === 404, `404 for an id in another form (${description})`, response);
        }),
      );
      for (const value of [
        '0',
        String(UNUSED_ID),
        '9007199254740992',
        '..%2f..%2fetc',
        '%F0%9F%90%9F',
        '7'.repeat(4000),
      ]) {
        await reader.send(404, request(value));
      }
      await users.anonymous.send(401, request('7'.repeat(4000)));
    },
  ),
);

const FORM = rawForm({ name: 'extra', content: '1' });

/** Bodies of several types and framings, none of which is empty, with the names of their fields. */
const BODIES: [description: string, sent: RequestOptions, ...fields: string[]][] = [
  ['a JSON object', { body: '{"a":1,"__proto__":2}', headers: contentType('application/json') }, 'a', '__proto__'],
  [
    'a JSON object in chunks',
    { body: '{"extra":1}', headers: { ...contentType('application/json'), ...CHUNKED } },
    'extra',
  ],
  ['a JSON array', { body: '[]', headers: contentType('application/json') }],
  ['text', { body: 'hello', headers: contentType('text/plain') }],
  ['a urlencoded form', { body: 'a=1', headers: contentType('application/x-www-form-urlencoded') }],
  ['a multipart form', FORM],
  ['a multipart form in chunks', { ...FORM, headers: { ...FORM.headers, ...CHUNKED } }],
  ['bytes', { body: new Uint8Array([0, 1, 2]), headers: contentType('application/octet-stream') }],
  ['bytes without a type', { body: 'hello' }],
];

/** Bodies that a parser may fail on or mistake for an empty body. */
const UNUSUAL_BODIES: typeof BODIES = [
  ['an empty JSON object as text', { body: '{}', headers: contentType('text/plain') }],
  ['an empty JSON object without a type', { body: '{}' }],
  ['an empty JSON object of an unreadable type', { body: '{}', headers: contentType(';;') }],
  ['JSON null', { body: 'null', headers: contentType('application/json') }],
  ['a blank as JSON', { body: ' ', headers: contentType('application/json') }],
  ['broken JSON', { body: '{', headers: contentType('application/json') }],
  ['JSON that is not UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]), headers: contentType('application/json') }],
  ['JSON above the size limit', { body: `"${'x'.repeat(65 * 1024)}"`, headers: contentType('application/json') }],
  ['a form without fields', { body: '--kit--\r\n', headers: FORM.headers ?? {} }],
  ['a form without a boundary', { body: '--kit--\r\n', headers: contentType('multipart/form-data') }],
];

/** Operations of different methods that are checked with the unusual bodies. A few operations are enough. */
const OPERATIONS_FOR_UNUSUAL_BODIES = ['getCurrentAccount', 'likePost', 'deleteOtherSessions', 'sendFriendRequest'];

const EMPTY_BODIES: RequestOptions[] = [
  { body: '', headers: contentType('application/json') },
  { body: '', headers: contentType('multipart/form-data') },
  { body: '', headers: CHUNKED },
  { body: '', headers: { ...contentType(';;'), ...CHUNKED } },
];

const withoutBody = contract.filter(({ requestBody }) => !requestBody);

const bodyRules = withoutBody.map((operation) =>
  rule(
    `bodies.none.${operation.id}`,
    `${methodAndPath(operation)} takes no body. A body returns 400, regardless of its type and framing, ${operation.refusesEmptyObject ? 'even if' : 'unless'} it is the JSON object {}. An empty body is treated as no body.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const request = validRequest(operation);
      const sentBodies = OPERATIONS_FOR_UNUSUAL_BODIES.includes(operation.id) ? [...BODIES, ...UNUSUAL_BODIES] : BODIES;
      for (const [description, sent, ...fields] of sentBodies) {
        const response = await send([200, 400, 403, 404, 409, 413, 415], request, sent);
        expectThat(response.status === 400, `400 for ${description} as the body`, response);
        const named = operation.refusesEmptyObject || fields.length === 0 ? [''] : fields;
        expectErrorShape(expectProblems(response, ...named.map((field) => `body.${field}`)));
      }
      if (operation.method === 'GET') await send(400, request.replace('GET', 'HEAD'), { body: 'hello' });
      if (operation.refusesEmptyObject) expectProblems(await send(400, request, { json: {} }), 'body.');
      // A logout ends the session, so only one request can succeed.
      const accepted =
        operation.id === 'logout'
          ? [EMPTY_BODIES[0]]
          : operation.refusesEmptyObject
            ? EMPTY_BODIES
            : [...EMPTY_BODIES, { json: {} }];
      for (const sent of accepted) await send([200, 403, 404], request, sent);
    },
  ),
);

const withBody = contract.filter(({ requestBody }) => requestBody);
const isJson = ({ requestBody }: ContractOperation) => requestBody?.mediaType === 'application/json';

/** Returns the fields that a 400 names when no field is sent. */
const absentFields = ({ requestBody }: ContractOperation) =>
  ((requestBody?.schema.required ?? ['']) as string[]).map((name) => `body.${name}`);

const KIT_FORM = 'multipart/form-data; boundary=kit';
const PART = '--kit\r\nContent-Disposition: form-data; name="title"\r\n\r\nA title';

const MALFORMED_FORMS: [type: string, body: string][] = [
  ['multipart/form-data', `${PART}\r\n--kit--\r\n`],
  ['multipart/form-data; boundary=other', `${PART}\r\n--kit--\r\n`],
  // Cut in a field, in a header and before the closing boundary.
  [KIT_FORM, PART],
  [KIT_FORM, '--kit\r\nContent-Dis'],
  [KIT_FORM, `${PART}\r\n--kit\r\n`],
  // A part without a name.
  [KIT_FORM, '--kit\r\nContent-Type: text/plain\r\n\r\nx\r\n--kit--\r\n'],
  [KIT_FORM, '{}'],
];

/** Rules whose requests have only invalid fields, so that a media type that is wrongly accepted changes nothing. */
const typeRules = withBody.map((operation) =>
  rule(
    `bodies.type.${operation.id}`,
    `${methodAndPath(operation)} compares the media type of the body ignoring case and parameters, and returns 415 for other types. A missing body returns 400 and names the required fields; a malformed body returns 400.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const request = validRequest(operation);
      const accepted = isJson(operation)
        ? [
            'application/json',
            'application/json; charset=utf-8',
            'application/json ;charset="UTF-8"',
            'Application/JSON',
          ]
        : [KIT_FORM, 'multipart/form-data; boundary="kit"', 'Multipart/Form-Data; charset=utf-8; boundary=kit'];
      for (const value of accepted) {
        for (const framing of [{}, CHUNKED]) {
          const body = isJson(operation) ? '{"extra":1}' : (FORM.body as Uint8Array);
          const response = await send([400, 415], request, { body, headers: { ...contentType(value), ...framing } });
          expectThat(response.status === 400, `a body of type ${value} to be read`, response);
          expectThat(
            response.body.errors?.some(({ field }: { field: string }) => field === 'extra'),
            'the field extra named',
            response,
          );
        }
      }
      const rejected = [
        'text/plain',
        'application/x-www-form-urlencoded',
        ';;',
        ...(isJson(operation)
          ? ['application/merge-patch+json', 'text/json', KIT_FORM]
          : ['multipart/mixed; boundary=kit', 'application/xml', 'application/json']),
      ];
      for (const value of rejected) {
        expectErrorShape(await send(415, request, { body: '{"title":"x"}', headers: contentType(value) }));
      }
      expectErrorShape(await send(415, request, { body: 'hello' }));
      for (const sent of [{}, ...EMPTY_BODIES])
        expectProblems(await send(400, request, sent), ...absentFields(operation));
      const allInvalid = validRequest(operation, ['page=1']);
      expectProblems(
        await send(400, allInvalid, isJson(operation) ? { json: { extra: 1 } } : FORM),
        ...['query.page', 'body.extra', ...absentFields(operation).filter((name) => name !== 'body.')],
      );
      if (!isJson(operation)) {
        const form = (type: string, body: string): RequestOptions => ({ body, headers: contentType(type) });
        expectProblems(await send(400, request, form(KIT_FORM, '--kit--\r\n')), ...absentFields(operation));
        for (const malformed of MALFORMED_FORMS) {
          expectProblems(await send(400, allInvalid, form(...malformed)), 'body.', 'query.page');
        }
      } else {
        const notUtf8 = Buffer.from('{"a":"\xff"}', 'latin1');
        for (const body of ['{', '[]', '7', 'null', '"x"', '{"a":1}{', "{'a':1}", '\ufeff', notUtf8]) {
          expectProblems(await send(400, request, { body, headers: contentType('application/json') }), 'body.');
        }
        const large = JSON.stringify({ extra: 'x'.repeat(64 * 1024) });
        await send(413, request, { body: large, headers: contentType('application/json') });
      }
    },
  ),
);

/** Query parameters that no operation accepts. */
const UNKNOWN_NAMES = ['page', 'ID', '__proto__'];

const unknownRules = contract.map((operation) =>
  rule(
    `unknown.query.${operation.id}`,
    `${methodAndPath(operation)} returns 400 for an undocumented query parameter, regardless of its name and value, and names it.`,
    async (users) => {
      const { send } = await getSender(users, operation, 'unknown fields');
      for (const name of UNKNOWN_NAMES) {
        const request = validRequest(operation, [`${encodeURIComponent(name)}=`]);
        const response = await send([200, 201, 400, 401, 403, 404, 409], request, exampleBody(operation));
        expectThat(response.status === 400, `400 for the query parameter ${name}`, response);
        expectProblems(response, `query.${name}`);
      }
    },
  ),
);

const unknownFieldRules = withBody.map((operation) =>
  rule(
    `unknown.body.${operation.id}`,
    `${methodAndPath(operation)} returns 400 for an undocumented body field, regardless of its name and value, and names it.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const [example] = Object.values(operation.requestBody?.examples ?? {});
      const fields = { ...example?.value };
      for (const name of [
        'author_id',
        'id',
        'like_count',
        'user_id',
        'Title',
        'Password',
        '__proto__',
        'constructor',
      ]) {
        const sent: RequestOptions = isJson(operation)
          ? {
              body: JSON.stringify(fields).replace(/\}$/, `,${JSON.stringify(name)}:""}`),
              headers: contentType('application/json'),
            }
          : rawForm(...Object.entries(fields).map(([key, value]) => ({ name: key, content: String(value) })), {
              name,
              content: '',
            });
        const response = await send([200, 201, 400, 401, 404, 409], validRequest(operation), sent);
        expectThat(response.status === 400, `400 for the field ${name}`, response);
        expectProblems(response, `body.${name}`);
      }
    },
  ),
);

export const bodies: Subject = {
  name: 'Bodies, parameters and unknown fields',
  rules: [...queryRules, ...pathRules, ...bodyRules, ...typeRules, ...unknownRules, ...unknownFieldRules],
};
