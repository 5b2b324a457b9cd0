import { contract, methodAndPath } from '../../document.js';
import type { RequestOptions } from '../../exchange.js';
import { expectErrorShape, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { CHUNKED, contentType } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { validRequest } from '../operations.js';
import { EMPTY_BODIES, FORM, getSender } from './requests.js';

/** Nonempty bodies of several types and framings, with the fields that a 400 can name. */
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
  ['a form without fields', { body: '--form--\r\n', headers: FORM.headers ?? {} }],
  ['a form without a boundary', { body: '--form--\r\n', headers: contentType('multipart/form-data') }],
];

/** Operations of different methods. A few of them are enough for the unusual bodies. */
const OPERATIONS_FOR_UNUSUAL_BODIES = ['getCurrentAccount', 'likePost', 'deleteOtherSessions', 'sendFriendRequest'];

const withoutBody = contract.filter(({ requestBody }) => !requestBody);

export const noBodyRules = withoutBody.map((operation) =>
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
      if (operation.refusesEmptyObject)
        expectProblemCodes(await send(400, request, { json: {} }), 'body. unexpected_body');
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
