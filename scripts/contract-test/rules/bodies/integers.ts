import { type ContractOperation, contract, methodAndPath } from '../../document.js';
import { expectProblems, expectThat } from '../../expect.js';
import { rawForm, UNUSED_ID } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { exampleBody } from '../operations.js';
import { getUser } from './requests.js';

/** Values that the contract rejects, most of which a lenient parser accepts as integers. */
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
  ['minus zero', () => '-0'],
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

export const queryIntegerRules = withIntegers.map((operation) =>
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

export const pathIntegerRules = withPathIds.map((operation) =>
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
