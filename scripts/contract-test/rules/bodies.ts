import { type ContractOperation, contract } from '../document.js';
import type { RequestOptions } from '../exchange.js';
import { expectErrorShape, expectProblems, expectThat } from '../expect.js';
import { NO_ID, rawForm } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';
import { bodyOf, sound } from './operations.js';

const nameOf = ({ method, path }: ContractOperation) => `${method} ${path}`;

/** What JavaScript makes of a number when it is lenient, and the contract does not. */
const SPELLINGS: [says: string, spell: (digits: string) => string][] = [
  ['empty', () => ''],
  ['a blank', () => '%20'],
  ['with a plus sign', (digits) => `%2B${digits}`],
  ['with a blank before it', (digits) => `%20${digits}`],
  ['with a plus for a blank before it', (digits) => `+${digits}`],
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

/** The integers next to those that a schema allows. */
const beyond = ({ minimum, maximum }: { minimum?: number; maximum?: number }): string[] => [
  ...(minimum === undefined ? [] : [String(minimum - 1)]),
  ...(maximum === undefined ? [] : [String(BigInt(maximum) + 1n)]),
];

const withIntegers = contract.filter(({ query }) => query.some(isInteger));

/** All integers of the operation, spelled in the same way: none of them may be accepted. */
function spelledRequest(operation: ContractOperation, spell: (digits: string) => string): string {
  const values = operation.query.map(({ name, schema }) => {
    const { maximum } = schema as { maximum?: number };
    // The id of nothing: a request that is wrongly accepted changes nothing.
    return `${name}=${spell(maximum === NO_ID ? String(NO_ID) : '5')}`;
  });
  return `${operation.method} ${operation.path}?${values.join('&')}`;
}

const user = (cast: TestUsers) => cast.sharedUser('bodies');

/** A user whom the operation may log out, or worse, if it takes what it must refuse. */
const userOf = async (
  cast: TestUsers,
  { id, secured }: ContractOperation,
  rules = 'bodies',
): Promise<Pick<User, 'send'>> => {
  if (!secured) return cast.anonymous;
  return id === 'logout' ? cast.sharedUser(`${rules} of logout`) : user(cast);
};

const queryRules = withIntegers.map((operation) =>
  rule(
    `integers.query.${operation.id}`,
    `An integer in the query is written in its canonical form only. Other spellings, and values out of bounds, are 400 and name the parameter: ${nameOf(operation)}`,
    async (cast) => {
      const { send } = await user(cast);
      const wanted = operation.query.map(({ name }) => `query.${name}`);
      await Promise.all(
        SPELLINGS.map(async ([says, spell]) => {
          const answer = await send([200, 400, 403, 404, 409], spelledRequest(operation, spell), bodyOf(operation));
          expectThat(answer.status === 400, `400 for an integer ${says}`, answer);
          expectProblems(answer, ...wanted);
        }),
      );
      for (const { name, schema } of operation.query) {
        for (const value of beyond(schema as { minimum?: number; maximum?: number })) {
          const others = operation.query.filter((parameter) => parameter.name !== name);
          const query = [`${name}=${value}`, ...others.map((other) => `${other.name}=5`)].join('&');
          // Another parameter may be wrong for this user: its own id, or another's.
          const answer = await send(400, `${operation.method} ${operation.path}?${query}`, bodyOf(operation));
          expectProblems(answer, `query.${name}`);
        }
      }
      const required = operation.query.filter((parameter) => parameter.required).map(({ name }) => `query.${name}`);
      if (required.length > 0)
        expectProblems(await send(400, `${operation.method} ${operation.path}`, bodyOf(operation)), ...required);
      for (const { name } of operation.query) {
        const repeated = operation.query.map((parameter) => `${parameter.name}=5`).join('&');
        expectProblems(
          await send(400, `${operation.method} ${operation.path}?${repeated}&${name}=5`, bodyOf(operation)),
          `query.${name}`,
        );
      }
    },
  ),
);

const inPath = contract.filter(({ inPath }) => inPath.some(isInteger));

const pathRules = inPath.map((operation) =>
  rule(
    `integers.path.${operation.id}`,
    `An id in a path names something in its canonical form only. Every other spelling is 404, also of an id that exists: ${nameOf(operation)}`,
    async (cast) => {
      const reader = await user(cast);
      const { body } = await reader.send(
        201,
        'POST /posts/create',
        rawForm({ name: 'title', content: 'A title' }, { name: 'text', content: 'A text' }),
      );
      const existing = operation.path.startsWith('/posts') ? body.id : reader.id;
      const request = (value: string) => `${operation.method} ${operation.path.replace(/\{\w+\}/, value)}`;
      await reader.send(200, request(String(existing)));
      await Promise.all(
        SPELLINGS.filter(([says]) => says !== 'empty').map(async ([says, spell]) => {
          const answer = await reader.send([200, 400, 404], request(spell(String(existing))));
          expectThat(answer.status === 404, `404 for an id ${says}`, answer);
        }),
      );
      for (const value of ['0', String(NO_ID), '9007199254740992', '..%2f..%2fetc', '%F0%9F%90%9F', '7'.repeat(4000)]) {
        await reader.send(404, request(value));
      }
      await cast.anonymous.send(401, request('7'.repeat(4000)));
    },
  ),
);

const type = (value: string) => ({ 'Content-Type': value });
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const FORM = rawForm({ name: 'extra', content: '1' });

/** Bodies of every kind, framed in every way. None of them may be taken for no body. */
const KINDS: [says: string, sent: RequestOptions, ...fields: string[]][] = [
  ['a JSON object', { body: '{"a":1,"__proto__":2}', headers: type('application/json') }, 'a', '__proto__'],
  ['a JSON object in chunks', { body: '{"extra":1}', headers: { ...type('application/json'), ...CHUNKED } }, 'extra'],
  ['a JSON array', { body: '[]', headers: type('application/json') }],
  ['text', { body: 'hello', headers: type('text/plain') }],
  ['a urlencoded form', { body: 'a=1', headers: type('application/x-www-form-urlencoded') }],
  ['a multipart form', FORM],
  ['a multipart form in chunks', { ...FORM, headers: { ...FORM.headers, ...CHUNKED } }],
  ['bytes', { body: new Uint8Array([0, 1, 2]), headers: type('application/octet-stream') }],
  ['bytes without a type', { body: 'hello' }],
];

/** Bodies that a parser may fail on, or take for an empty one. */
const ODD_KINDS: typeof KINDS = [
  ['an empty JSON object as text', { body: '{}', headers: type('text/plain') }],
  ['an empty JSON object without a type', { body: '{}' }],
  ['an empty JSON object of an unreadable type', { body: '{}', headers: type(';;') }],
  ['JSON null', { body: 'null', headers: type('application/json') }],
  ['a blank as JSON', { body: ' ', headers: type('application/json') }],
  ['broken JSON', { body: '{', headers: type('application/json') }],
  ['JSON that is not UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]), headers: type('application/json') }],
  ['more JSON than any operation takes', { body: `"${'x'.repeat(65 * 1024)}"`, headers: type('application/json') }],
  ['a form without fields', { body: '--kit--\r\n', headers: FORM.headers ?? {} }],
  ['a form without a boundary', { body: '--kit--\r\n', headers: type('multipart/form-data') }],
];

/** Operations of different methods on which the odd kinds are checked: all read bodies alike. */
const CHECKED_WITH_ODD_KINDS = ['getCurrentAccount', 'likePost', 'deleteOtherSessions', 'sendFriendRequest'];

const EMPTY: RequestOptions[] = [
  { body: '', headers: type('application/json') },
  { body: '', headers: type('multipart/form-data') },
  { body: '', headers: CHUNKED },
  { body: '', headers: { ...type(';;'), ...CHUNKED } },
];

const bodiless = contract.filter(({ requestBody }) => !requestBody);

const bodyRules = bodiless.map((operation) =>
  rule(
    `bodies.none.${operation.id}`,
    `A body on an operation that documents none is 400, whatever its type and framing. ${operation.refusesEmptyObject ? 'That includes {}' : 'A JSON {} passes'}. Zero bytes are no body: ${nameOf(operation)}`,
    async (cast) => {
      const { send } = await userOf(cast, operation);
      const request = sound(operation);
      const kinds = CHECKED_WITH_ODD_KINDS.includes(operation.id) ? [...KINDS, ...ODD_KINDS] : KINDS;
      for (const [says, sent, ...fields] of kinds) {
        const answer = await send([200, 400, 403, 404, 409, 413, 415], request, sent);
        expectThat(answer.status === 400, `400 for ${says} as the body`, answer);
        const named = operation.refusesEmptyObject || fields.length === 0 ? [''] : fields;
        expectErrorShape(expectProblems(answer, ...named.map((field) => `body.${field}`)));
      }
      if (operation.method === 'GET') await send(400, request.replace('GET', 'HEAD'), { body: 'hello' });
      if (operation.refusesEmptyObject) expectProblems(await send(400, request, { json: {} }), 'body.');
      // Those that would end the session are sent as the last request of their session.
      const passes =
        operation.id === 'logout' ? [EMPTY[0]] : operation.refusesEmptyObject ? EMPTY : [...EMPTY, { json: {} }];
      for (const sent of passes) await send([200, 403, 404], request, sent);
    },
  ),
);

const withBody = contract.filter(({ requestBody }) => requestBody);
const isJson = ({ requestBody }: ContractOperation) => requestBody?.mediaType === 'application/json';

/** What a 400 names when no field is sent. */
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

/** Ways to write the media type that the operation takes. Fields are wrong on purpose: nothing comes of it. */
const typeRules = withBody.map((operation) =>
  rule(
    `bodies.type.${operation.id}`,
    `The media type of a body is compared without regard to case and parameters. Other types are 415. No body is 400 and names the required fields, a malformed body is 400: ${nameOf(operation)}`,
    async (cast) => {
      const { send } = await userOf(cast, operation);
      const request = sound(operation);
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
          const answer = await send([400, 415], request, { body, headers: { ...type(value), ...framing } });
          expectThat(answer.status === 400, `a body of type ${value} to be read`, answer);
          expectThat(
            answer.body.errors?.some(({ field }: { field: string }) => field === 'extra'),
            'the field extra named',
            answer,
          );
        }
      }
      const refused = [
        'text/plain',
        'application/x-www-form-urlencoded',
        ';;',
        ...(isJson(operation)
          ? ['application/merge-patch+json', 'text/json', KIT_FORM]
          : ['multipart/mixed; boundary=kit', 'application/xml', 'application/json']),
      ];
      for (const value of refused) {
        expectErrorShape(await send(415, request, { body: '{"title":"x"}', headers: type(value) }));
      }
      expectErrorShape(await send(415, request, { body: 'hello' }));
      for (const sent of [{}, ...EMPTY]) expectProblems(await send(400, request, sent), ...absentFields(operation));
      const nothingRight = sound(operation, ['page=1']);
      expectProblems(
        await send(400, nothingRight, isJson(operation) ? { json: { extra: 1 } } : FORM),
        ...['query.page', 'body.extra', ...absentFields(operation).filter((name) => name !== 'body.')],
      );
      if (!isJson(operation)) {
        const form = (contentType: string, body: string): RequestOptions => ({ body, headers: type(contentType) });
        expectProblems(await send(400, request, form(KIT_FORM, '--kit--\r\n')), ...absentFields(operation));
        for (const malformed of MALFORMED_FORMS) {
          expectProblems(await send(400, nothingRight, form(...malformed)), 'body.', 'query.page');
        }
      } else {
        const notUtf8 = Buffer.from('{"a":"\xff"}', 'latin1');
        for (const body of ['{', '[]', '7', 'null', '"x"', '{"a":1}{', "{'a':1}", '\ufeff', notUtf8]) {
          expectProblems(await send(400, request, { body, headers: type('application/json') }), 'body.');
        }
        const large = JSON.stringify({ extra: 'x'.repeat(64 * 1024) });
        await send(413, request, { body: large, headers: type('application/json') });
      }
    },
  ),
);

/** Names of fields and parameters that nothing may take. */
const UNKNOWN = ['page', 'ID', '__proto__'];

const unknownRules = contract.map((operation) =>
  rule(
    `unknown.query.${operation.id}`,
    `An undocumented query parameter is 400 and is named, whatever its name and value: ${nameOf(operation)}`,
    async (cast) => {
      const { send } = await userOf(cast, operation, 'unknown fields');
      for (const name of UNKNOWN) {
        const request = sound(operation, [`${encodeURIComponent(name)}=`]);
        const answer = await send([200, 201, 400, 401, 403, 404, 409], request, bodyOf(operation));
        expectThat(answer.status === 400, `400 for the query parameter ${name}`, answer);
        expectProblems(answer, `query.${name}`);
      }
    },
  ),
);

const unknownFieldRules = withBody.map((operation) =>
  rule(
    `unknown.body.${operation.id}`,
    `An undocumented body field is 400 and is named, whatever its name and value: ${nameOf(operation)}`,
    async (cast) => {
      const { send } = await userOf(cast, operation);
      const fields = operation.requestBody?.examples ?? {};
      const [example] = Object.values(fields);
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
              body: JSON.stringify({ ...example?.value }).replace(/\}$/, `,${JSON.stringify(name)}:""}`),
              headers: type('application/json'),
            }
          : rawForm(
              ...Object.entries({ ...example?.value }).map(([key, value]) => ({ name: key, content: String(value) })),
              { name, content: '' },
            );
        const answer = await send([200, 201, 400, 401, 404, 409], sound(operation), sent);
        expectThat(answer.status === 400, `400 for the field ${name}`, answer);
        expectProblems(answer, `body.${name}`);
      }
    },
  ),
);

export const bodies: Subject = {
  name: 'Bodies, parameters and unknown fields',
  rules: [...queryRules, ...pathRules, ...bodyRules, ...typeRules, ...unknownRules, ...unknownFieldRules],
};
