import t from 'tap';
import { resolvedDocument } from '../../scripts/contract-test/client/index.js';

interface LinkedOperation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  responses: Record<string, LinkingResponse>;
}

interface LinkingResponse {
  links?: Record<string, { operationId: string; parameters?: Record<string, string> }>;
  content?: Record<string, { examples?: Record<string, { value: unknown }> }>;
}

const operations = Object.values(resolvedDocument.paths).flatMap(
  (item) => Object.values(item) as unknown as LinkedOperation[],
);

const namesOf = ({ parameters = [] }: LinkedOperation) => parameters.map(({ name }) => name);

/** Returns whether a runtime expression resolves to a parameter of the request, or to a value in every example. */
function resolves(expression: string, operation: LinkedOperation, { content }: LinkingResponse): boolean {
  const [, place, pointer = ''] = /^\$(response\.body|request\.query)[#.]\/?(.+)$/.exec(expression) ?? [];
  if (place === 'request.query') return namesOf(operation).includes(pointer);
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  const valueIn = (example: unknown) =>
    pointer
      .split('/')
      .reduce<unknown>((found, step) => (found as Record<string, unknown> | undefined)?.[step], example);
  return examples.length > 0 && examples.every(({ value }) => valueIn(value));
}

t.test('every link maps values of the request or the response to parameters of an operation', async (t) => {
  let checked = 0;
  for (const operation of operations) {
    for (const response of Object.values(operation.responses)) {
      for (const [name, { operationId, parameters = {} }] of Object.entries(response.links ?? {})) {
        checked += 1;
        const target = operations.find((other) => other.operationId === operationId);
        t.ok(target, `${name} of ${operation.operationId} leads to an operation`);
        for (const [parameter, expression] of Object.entries(parameters)) {
          t.ok(target && namesOf(target).includes(parameter), parameter);
          t.ok(resolves(expression, operation, response), `${name} of ${operation.operationId}: ${expression}`);
        }
      }
    }
  }
  t.ok(checked > 30, `${checked} links`);
});
