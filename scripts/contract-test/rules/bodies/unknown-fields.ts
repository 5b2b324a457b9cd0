import { contract, methodAndPath } from '../../document.js';
import type { RequestOptions } from '../../exchange.js';
import { expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { contentType, rawForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { exampleBody, validRequest } from '../operations.js';
import { getSender, isJson, withBody } from './requests.js';

/** Query parameters that no operation accepts. */
const UNKNOWN_NAMES = ['page', 'ID', '__proto__'];

export const unknownParameterRules = contract.map((operation) =>
  rule(
    `unknown.query.${operation.id}`,
    `${methodAndPath(operation)} returns 400 for an undocumented query parameter, regardless of its name and value, and names it.`,
    async (users) => {
      const { send } = await getSender(users, operation, 'unknown fields');
      for (const name of UNKNOWN_NAMES) {
        const request = validRequest(operation, [`${encodeURIComponent(name)}=`]);
        const response = await send([200, 201, 400, 401, 403, 404, 409], request, exampleBody(operation));
        expectThat(response.status === 400, `400 for the query parameter ${name}`, response);
        expectProblemCodes(response, `query.${name} unknown_field`);
      }
    },
  ),
);

export const unknownFieldRules = withBody.map((operation) =>
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
