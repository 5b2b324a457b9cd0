import { contract, methodAndPath, type RequestContent } from '../../client/index.js';
import { expectErrorShape, expectProblemCodes, expectProblems } from '../../expect.js';
import { bodyOfType, CHUNKED, contentType, rawForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { validRequest } from '../operations.js';
import { EMPTY_BODIES, FORM, getSender } from './requests.js';

const JSON_TYPE = 'application/json';

/** Nonempty bodies of several types and framings, with the fields that a 400 can name. */
const BODIES: [content: RequestContent, ...fields: string[]][] = [
  [bodyOfType(JSON_TYPE, '{"a":1,"__proto__":2}'), 'a', '__proto__'],
  [{ body: '{"extra":1}', headers: { ...contentType(JSON_TYPE), ...CHUNKED } }, 'extra'],
  [bodyOfType(JSON_TYPE, '[]')],
  [bodyOfType('text/plain', 'hello')],
  [bodyOfType('application/x-www-form-urlencoded', 'a=1')],
  [FORM],
  [{ ...FORM, headers: { ...FORM.headers, ...CHUNKED } }],
  [bodyOfType('application/octet-stream', new Uint8Array([0, 1, 2]))],
  [{ body: 'hello' }],
  [{ body: 'hello', headers: { ...contentType(JSON_TYPE), 'Content-Encoding': 'gzip' } }],
];

/** Bodies that a parser may fail on or mistake for an empty body. */
const UNUSUAL_BODIES: typeof BODIES = [
  [bodyOfType('text/plain', '{}')],
  [{ body: '{}' }],
  [bodyOfType(';;', '{}')],
  [bodyOfType(JSON_TYPE, 'null')],
  [bodyOfType(JSON_TYPE, ' ')],
  [bodyOfType(JSON_TYPE, '{')],
  [bodyOfType(JSON_TYPE, new Uint8Array([0x22, 0xff, 0x22]))],
  [bodyOfType(JSON_TYPE, `"${'x'.repeat(65 * 1024)}"`)],
  [rawForm()],
  [bodyOfType('multipart/form-data', '--form--\r\n')],
];

/** A few operations with different methods, which are enough for the unusual bodies. */
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
      for (const [content, ...fields] of sentBodies) {
        const response = await send(400, request, content);
        const named = operation.refusesEmptyObject || fields.length === 0 ? [''] : fields;
        expectErrorShape(expectProblems(response, ...named.map((field) => `body.${field}`)));
      }
      if (operation.method === 'GET') await send(400, request.replace('GET', 'HEAD'), { body: 'hello' });
      if (operation.refusesEmptyObject)
        expectProblemCodes(await send(400, request, { json: {} }), 'body. unexpected_body');
      const accepted = operation.refusesEmptyObject ? EMPTY_BODIES : [...EMPTY_BODIES, { json: {} }];
      // A logout ends the session, so only one request can succeed.
      const count = operation.id === 'logout' ? 1 : accepted.length;
      for (const content of accepted.slice(0, count)) await send([200, 403, 404], request, content);
    },
  ),
);
