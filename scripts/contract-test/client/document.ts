import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type ContractOperation, type Document, operationsOf, resolveReferences } from '../../generate/document.js';

export type { ContractOperation };

const { resolve } = createRequire(import.meta.url);

/** The OpenAPI document as published. The packed contract tests resolve `#openapi.json` to their own copy. */
export const document = JSON.parse(readFileSync(resolve('#openapi.json'), 'utf8'));

/** The version of the contract. */
export const version: string = document.info.version;

/** The whole document, with every `$ref` resolved. */
export const resolvedDocument: Document = resolveReferences(document);

/** The operations of the contract, read from the document. */
export const contract: ContractOperation[] = operationsOf(resolvedDocument);

/** Returns the method and path of an operation, such as `GET /posts/{id}`. */
export const methodAndPath = ({ method, path }: ContractOperation) => `${method} ${path}`;

/** Returns the operation of a request. Literal paths take precedence over paths with parameters. */
export function operationFor(method: string, pathname: string): ContractOperation | undefined {
  const literal = contract.filter(({ path }) => path === pathname);
  const candidates =
    literal.length > 0
      ? literal
      : contract.filter(({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  return candidates.find((operation) => operation.method === method);
}
