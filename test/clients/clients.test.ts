import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { startProcess } from '../support/processes.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import { clients, nameOf } from './generators.js';
import { compile, generate, prepare, runScenario } from './make.js';

/*
 * Generates a client with every generator, from the document that a service serves. Compiles each client and runs one scenario
 * against that service, except for the clients of `others`, which are only generated.
 *
 *   npm test -- test/clients --grep=go                         one language
 *   npm test -- test/clients --grep=go --grep=oapi-codegen     one client
 */

t.setTimeout(0);

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

for (const language of new Set(clients.map((client) => client.language))) {
  t.test(language.name, async (t) => {
    const ofLanguage = clients.filter((client) => client.language === language);
    await prepare(language, ofLanguage);
    for (const client of ofLanguage) {
      t.test(nameOf(client), async (t) => {
        await generate(client, document);
        await compile(client);
        t.same(await runScenario(client, variables), [], 'no missing steps');
      });
    }
  });
}
