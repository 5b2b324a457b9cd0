import type { ContractOperation } from './document.js';

const interfaceName = (tag: string) => `${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}Handlers`;

const member = ({ id, method, path, summary }: ContractOperation) =>
  `  /** \`${method} ${path}\`: ${summary} */\n  ${id}: All['${id}'];\n`;

/**
 * Returns a module with one interface per tag, so that a missing handler is a compile error. The service defines the
 * handler types: `All` maps every operation to its handler's type.
 */
export function generateHandlers(operations: ContractOperation[]): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const interfaces = tags.map((tag) => {
    const members = operations.filter((operation) => operation.tag === tag).map(member);
    return `export interface ${interfaceName(tag)}<All extends Record<OperationId, unknown>> {\n${members.join('')}}\n`;
  });
  return `import type { OperationId } from './types.js';\n\n${interfaces.join('\n')}`;
}
