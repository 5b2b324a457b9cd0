import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { type BareStores, openBareStores, type StoresConfig } from '../../db/stores.js';
import { pathsIn } from '../../db/support/data-directory.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { CommandError } from './command-error.js';

/** Throws CommandError if opening the stores would create a database, for example because DATA_DIR is misspelled. */
export function requireDatabase({ postgres, dataDir }: StoresConfig): void {
  const paths = pathsIn(dataDir);
  if (!postgres && !existsSync(paths.postgres) && !existsSync(paths.restoring))
    throw new CommandError(`${dataDir} does not contain a database`);
}

/** Opens the stores that the environment selects, and closes them after use. The log goes to standard error. */
export async function withBareStores(use: (stores: BareStores, log: Logger) => Promise<void>): Promise<void> {
  const config = readConfig(process.env);
  const log = createLogger(config, process.stderr);
  const stores = await openBareStores(config.stores, log);
  try {
    await use(stores, log);
  } finally {
    await stores.close();
  }
}
