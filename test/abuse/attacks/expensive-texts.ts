import { type ContractOperation, contract } from '../../../scripts/contract-test/client/index.js';
import { expensiveJson, expensiveTexts } from '../../support/expensive-inputs.js';
import type { HttpOptions } from '../../support/http.js';
import type { Attack } from '../attack.js';
import { statusOf } from '../client.js';
import { loopDelay } from '../measurements.js';

const JSON_TYPE = 'application/json';

/** The maximum sizes of texts: in JSON, the body must have space for the other fields; in a form, each field has a limit. */
const TEXT_BYTES_MAX = { json: 60 * 1024, form: 64 * 1024 };
const JSON_BYTES_MAX = 64 * 1024;

/** Sends every expensive text, at the maximum size, in every field of every request body, and all expensive JSON. */
export const expensiveTextsEverywhere: Attack = {
  title: 'texts that are slow to process, in every field of every request body',
  async run({ attacker: { token }, send, signal }) {
    const { body: post } = await send('POST', '/posts/create', { token, form: { title: 'T', text: 'T' } });
    let faults = 0;
    for (const { method, path, query, requiresAuthentication, requestBody } of contract) {
      const pathAndQuery = query.some(({ name }) => name === 'id') ? `${path}?id=${post.id}` : path;
      for (const body of expensiveBodies(requestBody)) {
        const status = await statusOf(
          send(method, pathAndQuery, { ...body, ...(requiresAuthentication && { token }), signal }),
        );
        if (status >= 500 || status === 0) faults += 1;
        if (signal.aborted) break;
      }
    }
    return [{ name: 'requests with a 5xx or no response', value: faults, atMost: 0 }];
  },
  measurements: (observation) => [loopDelay(observation, 100)],
};

/** Returns the example body with each expensive text in each field and, for a JSON body, all expensive JSON. */
function expensiveBodies(requestBody: ContractOperation['requestBody']): HttpOptions[] {
  if (!requestBody) return [];
  const [example] = Object.values(requestBody.examples ?? {});
  const texts = Object.entries(example?.value ?? {}).filter(
    ([name, value]) => typeof value === 'string' && name !== 'image',
  );
  const valid = Object.fromEntries(texts) as Record<string, string>;
  const isJson = requestBody.mediaType === JSON_TYPE;
  const bodies = Object.keys(requestBody.schema.properties ?? {}).flatMap((field) =>
    Object.values(expensiveTexts(isJson ? TEXT_BYTES_MAX.json : TEXT_BYTES_MAX.form)).map((text) => {
      const fields = { ...valid, [field]: text };
      return isJson ? { json: fields } : { form: fields };
    }),
  );
  const headers = { 'Content-Type': JSON_TYPE };
  return isJson
    ? [...bodies, ...Object.values(expensiveJson(JSON_BYTES_MAX)).map((body) => ({ body, headers }))]
    : bodies;
}
