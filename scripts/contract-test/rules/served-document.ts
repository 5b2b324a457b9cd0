import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { type CheckedResponse, document } from '../client/index.js';
import { expectThat } from '../expect.js';
import { rule } from '../rule.js';

/** Ignores `servers`, which differ by deployment. Does not use `expectEqual`, whose failure would contain both documents. */
const expectDocument = (response: CheckedResponse, actual: object) =>
  expectThat(
    isDeepStrictEqual({ ...actual, servers: document.servers }, document),
    'the document that the contract tests check against',
    response,
  );

export const servedDocumentRules = [
  rule(
    'document.json',
    'GET /openapi.json returns the OpenAPI document that the contract tests check against, apart from its servers.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.json');
      expectDocument(response, response.body);
    },
  ),

  rule(
    'document.yaml',
    'GET /openapi.yaml returns the OpenAPI document that the contract tests check against, apart from its servers.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.yaml');
      expectDocument(response, parse(response.bytes.toString()));
    },
  ),
];
