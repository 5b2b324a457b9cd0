import { type ContractOperation, contract, type RequestContent } from '../client/index.js';
import { expectCode, expectEqual, expectErrorShape, expectProblemCodes, expectProblems } from '../expect.js';
import { CHUNKED, contentType, pngFile, rawForm, UNUSED_ID } from '../fixtures.js';
import type { Subject } from '../rule.js';
import { userRules } from './user-rule.js';

/** All other parameters are ids. An unused id ensures that a request changes nothing, even if it is wrongly accepted. */
const PARAMETER_VALUES: Record<string, number> = { limit: 1, offset: 7 };

/** Returns the request line of an operation, with valid parameters that refer to no existing resource. */
export function validRequest(operation: ContractOperation, query: string[] = []): string {
  const path = operation.path.replace('{filename}', 'none.png').replace(/\{\w+\}/, String(UNUSED_ID));
  // A cursor is not valid together with an offset.
  const names = operation.query.map(({ name }) => name).filter((name) => name !== 'cursor');
  const parameters = [...names.map((name) => `${name}=${PARAMETER_VALUES[name] ?? UNUSED_ID}`), ...query];
  return `${operation.method} ${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}

/** Returns request content with the first example body of an operation, or without a body if it has no example. */
export function exampleBody({ requestBody }: ContractOperation): RequestContent {
  const [example] = Object.values(requestBody?.examples ?? {});
  if (!requestBody || !example) return {};
  if (requestBody.mediaType === 'application/json') return { json: example.value };
  const fields = Object.entries(example.value);
  return {
    form: Object.fromEntries(fields.map(([name, value]) => [name, name === 'image' ? pngFile() : String(value)])),
  };
}

const JSON_HEADERS = contentType('application/json');
const MAX_BODY_BYTES = 64 * 1024;

/** A request for each operation that takes a form, and the names of its text fields. */
const FORM_REQUESTS = contract
  .filter(({ requestBody }) => requestBody?.mediaType === 'multipart/form-data')
  .map((operation) => ({
    request: validRequest(operation),
    names: Object.keys(operation.requestBody?.schema.properties ?? {}).filter((name) => name !== 'image'),
  }));

const adaRule = userRules('ada');

/** Rules that hold for every operation, each checked on some of them. */
export const operations: Subject = {
  name: 'Every operation',
  rules: [
    adaRule(
      'http.form.repeated-field',
      'A repeated form field returns 400, even with equal values, and the response names it.',
      async ({ send }) => {
        for (const { request, names } of FORM_REQUESTS) {
          const parts = names.map((name) => ({ name, content: 'true' }));
          const response = await send(400, request, rawForm(...parts, ...parts));
          expectProblems(response, ...names.map((name) => `body.${name}`));
        }
      },
    ),

    adaRule(
      'http.form.file-for-text',
      'A file in place of a text field returns 400, even if it contains only text, and the response names the field.',
      async ({ send }) => {
        for (const { request, names } of FORM_REQUESTS) {
          const parts = names.map((name) => ({ name, content: 'true', fileName: 'a.txt', type: 'text/plain' }));
          const response = await send(400, request, rawForm(...parts));
          expectProblemCodes(response, ...names.map((name) => `body.${name} not_text`));
        }
      },
    ),

    adaRule(
      'http.errors.lists-every-problem',
      'A 400 lists every problem in the query and the body of the request, up to 100.',
      async ({ send }) => {
        const form = { title: '', author_id: '1' };
        const create = await send(400, 'POST /posts/create?page=1', { form });
        expectProblems(create, 'body.author_id', 'body.text', 'body.title', 'query.page');
        const edit = await send(400, 'PUT /posts/edit?id=x', { form });
        expectProblems(edit, 'body.author_id', 'body.title', 'query.id');
        const unexpected = await send(400, 'DELETE /posts/like?page=1', { body: 'hello' });
        expectProblems(unexpected, 'body.', 'query.id', 'query.page');
        const manyNames = Array.from({ length: 101 }, (_, index) => `unknown${index}=`);
        const response = await send(400, `GET /posts?${manyNames.join('&')}`);
        expectEqual(response, 'the number of problems', response.body.errors?.length, 100);
      },
    ),

    adaRule(
      'http.body.too-large',
      'A JSON body of 64 KiB is accepted. A larger body returns 413 regardless of its fields and the query. Without credentials it returns 401.',
      async ({ send }, users) => {
        // “é” has two bytes, so that the rule fails for a service that counts characters instead of bytes.
        const json = Buffer.from(JSON.stringify({ extra: 'é'.repeat(1000) }));
        const bodyOfSize = (byteCount: number, headers = {}) => ({
          body: Buffer.concat([json, Buffer.alloc(byteCount - json.length, ' ')]),
          headers: { ...JSON_HEADERS, ...headers },
        });
        for (const headers of [{}, CHUNKED]) {
          const atLimit = await send(400, 'DELETE /profiles/me', bodyOfSize(MAX_BODY_BYTES, headers));
          expectProblems(atLimit, 'body.extra', 'body.password');
          const overLimit = await send(413, 'DELETE /profiles/me?page=1', bodyOfSize(MAX_BODY_BYTES + 1, headers));
          expectCode(expectErrorShape(overLimit), 'body_too_large');
        }
        await users.anonymous.send(401, 'DELETE /profiles/me', bodyOfSize(MAX_BODY_BYTES + 1));
      },
    ),

    adaRule('http.fields.nul', 'NUL, and form fields that are not valid UTF-8, return 400.', async ({ send }) => {
      const form = { title: 'a\0', text: 'b\0' };
      expectProblems(await send(400, 'POST /posts/create', { form }), 'body.text', 'body.title');
      expectProblems(await send(400, 'GET /posts?limit=%00'), 'query.limit');
      const surrogate = { name: 'text', content: Buffer.from('a\xed\xa0\x80', 'latin1') };
      const content = rawForm({ name: 'title', content: 'a' }, surrogate);
      expectProblems(await send(400, 'POST /posts/create', content), 'body.text');
    }),
  ],
};
