import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type BareStores, openBareStores } from '../../db/stores/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { runCommand } from './processes.js';
import { freshDataDirectory, silentLog, temporaryDirectory } from './stores.js';

/** Shared by source and target, so that tokens and links remain valid after a move. */
export const SHARED_VARIABLES = {
  TOKEN_KEYS: 'test:b83f0d51e6a97c24d10fb5983e6c7a42',
  PUBLIC_URL: 'http://social.example',
};

export const embeddedVariables = async (t: Test): Promise<{ DATA_DIR: string } & NodeJS.ProcessEnv> => ({
  DATA_DIR: await freshDataDirectory(t),
  ...SHARED_VARIABLES,
});

/** Writes variables to a file that `move --to` reads, and returns its path. */
async function writeVariables(t: Test, variables: NodeJS.ProcessEnv): Promise<string> {
  const file = join(await temporaryDirectory(t), 'target.env');
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value}"`],
  );
  await writeFile(file, lines.join('\n'));
  return file;
}

/** Runs `npm run move`. Also returns the path of the file with the variables of the target. */
export async function runMove(t: Test, source: NodeJS.ProcessEnv, target: NodeJS.ProcessEnv) {
  const file = await writeVariables(t, target);
  return { file, ...(await runCommand(t, ['move/index', '--to', file], source)) };
}

/** Opens stores without starting a service, and closes them after `use`. */
export async function withBareStores(variables: NodeJS.ProcessEnv, use: (stores: BareStores) => Promise<unknown>) {
  const stores = await openBareStores(readConfig(variables).stores, silentLog);
  try {
    await use(stores);
  } finally {
    await stores.close();
  }
}
