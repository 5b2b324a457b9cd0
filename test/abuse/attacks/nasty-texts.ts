import { type ContractOperation, contract } from '../../../scripts/contract-test/document.js';
import { nastyJson, nastyTexts } from '../../support/nasty-texts.js';
import type { TestResponse } from '../../support/requests.js';
import { type Attack, loopDelay, noErrors, type Target } from '../attack.js';
import { statusOf } from '../client.js';

const JSON_TYPE = 'application/json';

/** The sizes of texts that just fit into a body beside its other fields. */
const TEXT_BYTES_MAX = { json: 60 * 1024, form: 200 * 1024 };
const JSON_BYTES_MAX = 64 * 1024;

/** Every text field of every operation, with every nasty text at the maximum size. */
export const nastyTextsEverywhere: Attack = {
  name: 'nasty-texts',
  title: 'texts that are slow to process, in every text field of every operation',
  async prepare(target, { attacker }) {
    const { body: post } = await target.send('POST', '/posts/create', {
      token: attacker.token,
      form: { title: 'T', text: 'T' },
    });
    return {
      async run() {
        let faults = 0;
        const countFault = async (response: Promise<TestResponse>) => {
          const status = await statusOf(response);
          if (status >= 500 || status === 0) faults += 1;
        };
        for (const operation of contract.filter(({ requestBody }) => requestBody)) {
          const isJson = operation.requestBody?.mediaType === JSON_TYPE;
          const texts = Object.values(nastyTexts(isJson ? TEXT_BYTES_MAX.json : TEXT_BYTES_MAX.form));
          for (const field of fieldNamesOf(operation)) {
            for (const text of texts) {
              if (target.signal.aborted) return [];
              await countFault(sendField(target, operation, field, text, attacker.token, post.id));
            }
          }
          for (const body of isJson ? Object.values(nastyJson(JSON_BYTES_MAX)) : []) {
            const headers = { 'Content-Type': JSON_TYPE };
            const credentials = operation.secured && { token: attacker.token };
            await countFault(
              target.send(operation.method, operation.path, { ...credentials, body, headers, signal: target.signal }),
            );
          }
        }
        return [{ name: 'faults', value: faults, atMost: 0 }];
      },
    };
  },
  evaluate: (measured) => [loopDelay(measured, 100), noErrors(measured)],
};

const fieldNamesOf = ({ requestBody }: ContractOperation): string[] =>
  Object.keys(requestBody?.schema.properties ?? {});

/** Sends the operation's example with this text in one field. */
function sendField(
  target: Target,
  operation: ContractOperation,
  field: string,
  text: string,
  token: string,
  postId: number,
): Promise<TestResponse> {
  const [example] = Object.values(operation.requestBody?.examples ?? {});
  const values = Object.entries(example?.value ?? {}).filter(([, value]) => typeof value === 'string');
  const fields = { ...(Object.fromEntries(values) as Record<string, string>), [field]: text };
  const path = operation.query.some(({ name }) => name === 'id') ? `${operation.path}?id=${postId}` : operation.path;
  const body = operation.requestBody?.mediaType === JSON_TYPE ? { json: fields } : { form: fields };
  return target.send(operation.method, path, { ...body, ...(operation.secured && { token }), signal: target.signal });
}
