import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import type { ContractOperation } from './document.js';

/**
 * Returns the contract's paths, operations and schemas as types, for the service and for TypeScript clients. Binary strings
 * become `Blob`.
 */
export async function generateTypes(document: OpenAPI3, operations: readonly ContractOperation[]): Promise<string> {
  const nodes = await openapiTypescript(document, {
    transform: ({ format }) => (format === 'binary' ? ts.factory.createTypeReferenceNode('Blob') : undefined),
  });
  const unsecuredIds = operations
    .filter(({ requiresAuthentication }) => !requiresAuthentication)
    .map(({ id }) => `'${id}'`);
  return `${astToString(nodes)}
export type OperationId = keyof operations;

/** The operations that need no credentials. */
export type UnsecuredOperationId = ${unsecuredIds.join(' | ')};
`;
}
