import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import type { Operation } from './document.js';

const UPLOAD = `/** A file of a form: spooled to \`path\`, its type known by its signature. It is removed after the handler returns. */
export interface Upload {
  path: string;
  size: number;
  mediaType: string;
}`;

/** Returns the contract's schemas and operations as types. Binary strings become `Upload`. */
export async function generateTypes(document: OpenAPI3, operations: readonly Operation[]): Promise<string> {
  const nodes = await openapiTypescript(document, {
    inject: UPLOAD,
    transform: ({ format }) => (format === 'binary' ? ts.factory.createTypeReferenceNode('Upload') : undefined),
  });
  const openIds = operations.filter(({ secured }) => !secured).map(({ id }) => `'${id}'`);
  return `${astToString(nodes)}
export type OperationId = keyof operations;

/** The operations that need no credentials. */
export type OpenOperationId = ${openIds.join(' | ')};
`;
}
