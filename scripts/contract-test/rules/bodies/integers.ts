import { type ContractOperation, contract, methodAndPath } from '../../client/index.js';
import { expectProblems } from '../../expect.js';
import { publish, UNUSED_ID } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { exampleBody } from '../operations.js';
import { getBodiesUser } from './requests.js';

/** Spellings that the contract rejects, most of which a lenient parser accepts as integers. */
const REJECTED_SPELLINGS: ((digits: string) => string)[] = [
  () => '%20',
  (digits) => `%2B${digits}`,
  (digits) => `%20${digits}`,
  (digits) => `+${digits}`,
  (digits) => `${digits}%20`,
  (digits) => `0${digits}`,
  (digits) => `${digits}.0`,
  (digits) => `${digits}e0`,
  (digits) => `0x${Number(digits).toString(16)}`,
  (digits) => withDigitsFrom(FULL_WIDTH_ZERO, digits),
  (digits) => withDigitsFrom(ARABIC_ZERO, digits),
  (digits) => `${digits}n`,
  (digits) => `${digits}%00`,
  (digits) => `-${digits}`,
  () => '-0',
  // Beyond 2^53 and 2^64.
  () => '9007199254740993',
  () => '18446744073709551617',
  () => 'five',
];

const FULL_WIDTH_ZERO = 0xff10;
const ARABIC_ZERO = 0x660;

/** Replaces the digits with those of another script, percent-encoded. */
const withDigitsFrom = (zero: number, digits: string) =>
  encodeURIComponent(digits.replace(/\d/g, (digit) => String.fromCharCode(zero + Number(digit))));

const isInteger = ({ schema }: { schema: object }) => 'type' in schema && schema.type === 'integer';

interface Range {
  minimum?: number;
  maximum?: number;
}

/** Returns the integers just outside the range of a schema. */
const outOfRange = ({ minimum, maximum }: Range): string[] => [
  ...(minimum === undefined ? [] : [String(minimum - 1)]),
  ...(maximum === undefined ? [] : [String(BigInt(maximum) + 1n)]),
];

/** The operations with integers in the query, without their other parameters. */
const withIntegers = contract
  .map((operation) => ({ ...operation, query: operation.query.filter(isInteger) }))
  .filter(({ query }) => query.length > 0);

const joinQuery = (parameters: string[]) => `?${parameters.join('&')}`;

/** Returns a valid value. An id, recognized by its maximum, is unused: a wrongly accepted request then changes nothing. */
const validValue = ({ schema }: ContractOperation['query'][number]): string =>
  (schema as Range).maximum === UNUSED_ID ? String(UNUSED_ID) : '5';

/** Returns a query with a valid value for every parameter, rewritten in this spelling. */
const queryInSpelling = ({ query }: ContractOperation, rewrite: (digits: string) => string): string =>
  joinQuery(query.map((parameter) => `${parameter.name}=${rewrite(validValue(parameter))}`));

export const queryIntegerRules = withIntegers.map((operation) =>
  rule(
    `integers.query.${operation.id}`,
    `${methodAndPath(operation)} accepts integers in the query in their canonical form only. Other spellings, values out of range, repeated parameters, and missing required parameters return 400 with the name of the parameter.`,
    async (users) => {
      const user = await getBodiesUser(users);
      const send = (query: string) => user.send(400, `${methodAndPath(operation)}${query}`, exampleBody(operation));
      const names = operation.query.map(({ name }) => name);
      await Promise.all(
        [() => '', ...REJECTED_SPELLINGS].map(async (rewrite) =>
          expectProblems(await send(queryInSpelling(operation, rewrite)), ...names.map((name) => `query.${name}`)),
        ),
      );
      const valid = operation.query.map((parameter) => `${parameter.name}=${validValue(parameter)}`);
      for (const [index, { name, schema }] of operation.query.entries()) {
        for (const value of outOfRange(schema as Range))
          expectProblems(await send(joinQuery(valid.with(index, `${name}=${value}`))), `query.${name}`);
        expectProblems(await send(joinQuery([...valid, valid[index] ?? ''])), `query.${name}`);
      }
      const required = operation.query.filter((parameter) => parameter.required).map(({ name }) => `query.${name}`);
      if (required.length > 0) expectProblems(await send(''), ...required);
    },
  ),
);

const withPathIds = contract.filter(({ pathParameters }) => pathParameters.some(isInteger));

export const pathIntegerRules = withPathIds.map((operation) =>
  rule(
    `integers.path.${operation.id}`,
    `${methodAndPath(operation)} accepts an id in the path in its canonical form only. Other spellings return 404, even of an existing id.`,
    async (users) => {
      const reader = await getBodiesUser(users);
      const post = await publish(reader);
      const id = String(operation.path.startsWith('/posts') ? post.id : reader.id);
      const request = (value: string) => methodAndPath(operation).replace(/\{\w+\}/, value);
      await reader.send(200, request(id));
      await Promise.all(REJECTED_SPELLINGS.map((rewrite) => reader.send(404, request(rewrite(id)))));
      const longId = '7'.repeat(4000);
      for (const value of ['0', String(UNUSED_ID), '9007199254740992', '..%2f..%2fetc', '%F0%9F%90%9F', longId])
        await reader.send(404, request(value));
      await users.anonymous.send(401, request(longId));
    },
  ),
);
