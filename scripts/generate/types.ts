import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';

const UPLOAD = `/** A file of a form: spooled to \`path\`, its type known by its signature. It is gone when the handler has returned. */
export interface Upload {
  path: string;
  size: number;
  mediaType: string;
}`;

/** The contract's schemas and operations as types. What it calls binary is a file. */
export async function generateTypes(document: OpenAPI3): Promise<string> {
  const nodes = await openapiTypescript(document, {
    inject: UPLOAD,
    transform: ({ format }) => (format === 'binary' ? ts.factory.createTypeReferenceNode('Upload') : undefined),
  });
  return astToString(nodes);
}
