import { type ContractOperation, contract, methodAndPath, type RequestContent } from '../../client/index.js';
import { expectProblemCodes, expectProblems } from '../../expect.js';
import { rawForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { exampleBody, validRequest } from '../operations.js';
import { getSender, isJson, withBody } from './requests.js';

/** Query parameters that no operation accepts. */
const UNKNOWN_PARAMETERS = ['page', 'ID', '__proto__'];

/** Body fields that no operation accepts. */
const UNKNOWN_FIELDS = ['author_id', 'id', 'like_count', 'user_id', 'Title', 'Password', '__proto__', 'constructor'];

const bodyFields = ({ requestBody }: ContractOperation) => Object.keys(requestBody?.schema.properties ?? {});
const parameters = ({ query }: ContractOperation) => query.map(({ name }) => name);

/** Returns the names that other operations accept, but not this one. */
const namesOfOthers = (operation: ContractOperation, namesOf: (operation: ContractOperation) => string[]) =>
  [...new Set(contract.flatMap(namesOf))].filter((name) => !namesOf(operation).includes(name));

export const unknownParameterRules = contract.map((operation) =>
  rule(
    `unknown.query.${operation.id}`,
    `${methodAndPath(operation)} returns 400 for an undocumented query parameter, even if it is empty, and names it.`,
    async (users) => {
      const { send } = await getSender(users, operation, 'unknown parameters');
      for (const names of [...UNKNOWN_PARAMETERS.map((name) => [name]), namesOfOthers(operation, parameters)]) {
        const query = names.map((name) => `${encodeURIComponent(name)}=`);
        const response = await send(400, validRequest(operation, query), exampleBody(operation));
        expectProblemCodes(response, ...names.map((name) => `query.${name} unknown_field`));
      }
    },
  ),
);

export const unknownFieldRules = withBody.map((operation) =>
  rule(
    `unknown.body.${operation.id}`,
    `${methodAndPath(operation)} returns 400 for an undocumented body field, even if it is empty, and names it.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const [example] = Object.values(operation.requestBody?.examples ?? {});
      for (const names of [...UNKNOWN_FIELDS.map((name) => [name]), namesOfOthers(operation, bodyFields)]) {
        const valid = Object.entries(example?.value ?? {}).filter(([name]) => name !== 'image');
        const fields = [...valid, ...names.map((name) => [name, ''] as const)];
        const content: RequestContent = isJson(operation)
          ? { json: Object.fromEntries(fields) }
          : rawForm(...fields.map(([name, value]) => ({ name, content: String(value) })));
        expectProblems(await send(400, validRequest(operation), content), ...names.map((name) => `body.${name}`));
      }
    },
  ),
);
