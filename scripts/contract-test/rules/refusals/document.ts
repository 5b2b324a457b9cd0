import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { document } from '../../document.js';
import { expectThat } from '../../expect.js';
import { rule } from '../../rule.js';

export const documentRules = [
  rule(
    'document.json',
    'GET /openapi.json returns the OpenAPI document that the contract tests check against.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.json');
      expectThat(
        isDeepStrictEqual(response.body, document),
        'the document that the contract tests check against',
        response,
      );
    },
  ),

  rule('document.yaml', 'GET /openapi.yaml returns the same document as GET /openapi.json.', async (users) => {
    const response = await users.anonymous.send(200, 'GET /openapi.yaml');
    expectThat(
      isDeepStrictEqual(parse(response.bytes.toString()), document),
      'the document that the contract tests check against',
      response,
    );
  }),
];
