import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { startProcess } from '../support/processes.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import { clients, type GeneratedClient, nameOf } from './generators.js';
import { compile, generate, prepare, runScenario } from './make.js';

/*
 * Generates a client with every generator, from the document that a service serves. Compiles each client and runs one scenario
 * against that service, except for the clients of `others`, which are only generated.
 *
 *   npm test -- clients --only typescript    only this language or client, such as go/oapi-codegen; can be repeated
 */

t.setTimeout(0);

const { only } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } }).values;
const matches = (client: GeneratedClient, name: string) => nameOf(client) === name || client.language.name === name;
const names = new Set(clients.flatMap((client) => [client.language.name, nameOf(client)]));
const unknown = only.filter((name) => !names.has(name));
if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. Known: ${[...names].join(', ')}`);
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

for (const language of new Set(chosen.map((client) => client.language))) {
  const ofLanguage = chosen.filter((client) => client.language === language);
  await t.test(`${language.name}: tools`, () => prepare(language, ofLanguage));
  for (const client of ofLanguage) {
    await t.test(nameOf(client), async (t) => {
      await generate(client, document);
      await compile(client);
      t.same(await runScenario(client, variables), [], 'no missing steps');
    });
  }
}
