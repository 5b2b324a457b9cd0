import t from 'tap';
import { resolvedDocument } from '../../scripts/contract-test/document.js';

interface Link {
  operationId: string;
  parameters?: Record<string, string>;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  responses: Record<string, { links?: Record<string, Link>; content?: Record<string, { examples: object }> }>;
}

const operations = Object.values(resolvedDocument.paths).flatMap((item) =>
  Object.values(item),
) as unknown as Operation[];
const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
const links = operations.flatMap((operation) =>
  Object.values(operation.responses).flatMap((response) =>
    Object.entries(response.links ?? {}).map(([name, link]) => ({ name, link, operation, response })),
  ),
);

const namesOf = ({ parameters = [] }: Operation) => parameters.map(({ name }) => name);

/** Returns whether a runtime expression resolves to a value in every example or to a parameter. */
function resolves(expression: string, { operation, response }: (typeof links)[number]): boolean {
  const [, place = '', pointer = ''] = /^\$(response\.body|request\.query)[#.]\/?(.+)$/.exec(expression) ?? [];
  if (place === 'request.query') return namesOf(operation).includes(pointer);
  const examples = Object.values(response.content?.['application/json']?.examples ?? {}) as { value: unknown }[];
  return (
    examples.length > 0 &&
    examples.every(({ value }) =>
      pointer
        .split('/')
        .reduce((found, step) => (found as Record<string, unknown> | undefined)?.[step] as unknown, value),
    )
  );
}

t.test('every link maps a value of a response to a parameter of an operation', async (t) => {
  t.ok(links.length > 30, `${links.length} links`);
  for (const from of links) {
    const { name, link, operation } = from;
    const target = byId.get(link.operationId);
    t.ok(target, `${name} of ${operation.operationId} leads to an operation`);
    if (!target) continue;
    for (const parameter of Object.keys(link.parameters ?? {})) t.ok(namesOf(target).includes(parameter), parameter);
    for (const expression of Object.values(link.parameters ?? {})) {
      t.ok(resolves(expression, from), `${name} of ${operation.operationId}: ${expression}`);
    }
  }
});
