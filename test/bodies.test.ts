import t from 'tap';
import { type ContractOperation, contract } from '../scripts/contract-test/client/index.js';
import { expensiveTexts } from './support/expensive-inputs.js';
import { createPost, picture, startTestService } from './support/service.js';

/* Request bodies: their media types, and texts that are expensive to validate. */

const JSON_MAX_BYTES = 64 * 1024;

/** The maximum length, in UTF-16 code units, of a text that is normalized: an email address of 254 code points. */
const MAX_NORMALIZED_CODE_UNITS = 2 * 254;

const service = await startTestService(t);
const user = await service.createUser();
const { id } = await createPost(user);

const withBody = contract.filter(({ requestBody }) => requestBody);
const isForm = ({ requestBody }: ContractOperation) => requestBody?.mediaType === 'multipart/form-data';

const pathOf = ({ path, query }: ContractOperation) => (query.length > 0 ? `${path}?id=${id}` : path);

/** Sends the operation's first example with these fields replaced. */
function sendExample(operation: ContractOperation, texts: Record<string, string>) {
  const [example] = Object.values(operation.requestBody?.examples ?? {});
  const fields = { ...example?.value, ...texts };
  const form = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, name === 'image' ? picture() : String(value)]),
  );
  return user.send(operation.method, pathOf(operation), isForm(operation) ? { form } : { json: fields });
}

t.test('a 415 names the media type of the operation', async (t) => {
  for (const operation of withBody) {
    const { status, body } = await user.send(operation.method, pathOf(operation), { body: 'x' });
    t.equal(status, 415, operation.id);
    t.match(body.message, operation.requestBody?.mediaType);
  }
});

/** Returns the length, in code units, of the longest text that is normalized during `work`. */
async function longestNormalized(work: () => Promise<void>): Promise<number> {
  const { normalize } = String.prototype;
  let longest = 0;
  String.prototype.normalize = function (this: string, ...form: []) {
    longest = Math.max(longest, this.length);
    return normalize.apply(this, form);
  };
  await work().finally(() => {
    String.prototype.normalize = normalize;
  });
  return longest;
}

/** Texts that, together with the other fields of an example, fit into a body. */
const expensive = Object.entries(expensiveTexts(JSON_MAX_BYTES - 1024));

for (const operation of withBody) {
  t.test(`${operation.id} neither normalizes nor returns texts that are too long`, async (t) => {
    const properties = operation.requestBody?.schema.properties ?? {};
    const texts = Object.entries(properties).filter(([, { type, format }]) => type === 'string' && format !== 'binary');
    const longest = await longestNormalized(async () => {
      for (const [field] of texts) {
        for (const [what, text] of expensive) {
          const { status, bytes } = await sendExample(operation, { [field]: text });
          // A login does not validate the email.
          const isLoginEmail = operation.id === 'login' && field === 'email';
          const isRejected = status === 400 || (isLoginEmail && status === 401);
          t.ok(isRejected, `${field}: ${what}`, { status });
          t.ok(bytes.length < JSON_MAX_BYTES, `${field}: ${what}: the response is smaller than the largest request`);
        }
      }
    });
    t.ok(longest <= MAX_NORMALIZED_CODE_UNITS, `${longest} code units`);
  });
}
