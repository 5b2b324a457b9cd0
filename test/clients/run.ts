import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import t, { type Test } from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { startProcess } from '../support/processes.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import type { Outcome } from './command.js';
import { type Client, clients, nameOf } from './generators.js';
import { others } from './languages.js';
import { compile, generate, prepare, runScenario } from './make.js';
import { type Result, readmeTable, resultTable, tableInReadme, writeTableInReadme } from './report.js';

/*
 * Generates a client with every generator, from the document that a service serves, compiles it, and runs one scenario
 * against that service.
 *
 *   npm run test:clients -- --only typescript    only this language or client, such as go/oapi-codegen; can be repeated
 *   npm run test:clients -- --write              writes the table into test/clients/README.md; has no effect with --only
 */

t.setTimeout(0);

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: [] }, write: { type: 'boolean' } },
});
const { only } = values;
const matches = (client: Client, name: string) => nameOf(client) === name || client.language.name === name;
const unknown = only.filter((name) => !clients.some((client) => matches(client, name)));
if (unknown.length > 0) {
  console.error(`Unknown client ${unknown.join(', ')}. Known: ${clients.map(nameOf).join(', ')}`);
  process.exit(1);
}
const chosen = clients.filter((client) => only.length === 0 || only.some((name) => matches(client, name)));

const service = await startProcess(t, await freshStores(t));
const document = await (await fetch(`${service.url}/openapi.yaml`)).text();

const directory = await temporaryDirectory(t);
const variables = {
  BASE_URL: service.url,
  PICTURE: join(directory, 'picture.png'),
  IMAGE: join(directory, 'image.jpg'),
};
await writeFile(variables.PICTURE, samples.png);
await writeFile(variables.IMAGE, samples.jpeg);

/** The length of the printed end of a failed command's output. */
const MAX_OUTPUT_CHARACTERS = 6000;

/** Expects a step to have succeeded, and returns its outcome. */
function expectSuccess(t: Test, step: string, outcome: Outcome): Outcome {
  t.ok(outcome.ok, step, outcome.ok ? {} : { output: outcome.output.slice(-MAX_OUTPUT_CHARACTERS) });
  return outcome;
}

const results: Result[] = [];

for (const language of new Set(chosen.map((client) => client.language))) {
  const ofLanguage = chosen.filter((client) => client.language === language);
  await t.test(`${language.name}: tools`, () => prepare(language, ofLanguage));
  for (const client of ofLanguage) {
    await t.test(nameOf(client), async (t) => {
      const result: Result = { client };
      results.push(result);
      result.generated = expectSuccess(t, 'generates', await generate(client, document));
      if (!result.generated.ok || language === others) return;
      result.compiled = expectSuccess(t, 'compiles', await compile(client));
      if (!result.compiled.ok) return;
      result.ran = expectSuccess(t, 'runs', await runScenario(client, variables));
    });
  }
}

await t.test(
  'test/clients/README.md is up to date; update it with -- --write',
  { skip: only.length > 0 },
  async (t) => {
    if (values.write) await writeTableInReadme(readmeTable(results));
    t.equal(await tableInReadme(), readmeTable(results));
  },
);

t.comment(resultTable(results));
