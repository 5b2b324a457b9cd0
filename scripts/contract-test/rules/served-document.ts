import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { type CheckedResponse, document } from '../client/index.js';
import { expectThat } from '../expect.js';
import { rule } from '../rule.js';

/** Does not use `expectEqual`, whose failure would contain both documents. */
const expectDocument = (response: CheckedResponse, actual: unknown) =>
  expectThat(isDeepStrictEqual(actual, document), 'the document that the contract tests check against', response);

export const servedDocumentRules = [
  rule(
    'document.json',
    'GET /openapi.json returns the OpenAPI document that the contract tests check against.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.json');
      expectDocument(response, response.body);
    },
  ),

  rule(
    'document.yaml',
    'GET /openapi.yaml returns the OpenAPI document that the contract tests check against.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.yaml');
      expectDocument(response, parse(response.bytes.toString()));
    },
  ),
];
