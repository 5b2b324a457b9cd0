import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type BareStores, openBareStores, type StoresConfig } from '../../db/stores/index.js';
import { pathsIn } from '../../db/support/data-directory.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { CommandError } from './command-error.js';
import { silentLog } from './silent-log.js';

/** Throws CommandError if opening the stores would create a database or DATA_DIR, for example because it is misspelled. */
export function requireDatabase({ postgres, s3, dataDir }: StoresConfig): void {
  const paths = pathsIn(dataDir);
  if (!postgres && !existsSync(paths.postgres) && !existsSync(paths.restoring))
    throw new CommandError(`${dataDir} does not contain a database`);
  if (!s3 && !existsSync(paths.root))
    throw new CommandError(`${dataDir} does not exist: set DATA_DIR to the directory of the images`);
}

/** Calls `use` with stores that need no DATA_DIR of the service: if all are servers, a missing one is not created. */
export async function withDataDirectory<Result>(
  stores: StoresConfig,
  use: (stores: StoresConfig) => Promise<Result>,
): Promise<Result> {
  if (!stores.postgres || !stores.s3 || existsSync(stores.dataDir)) return use(stores);
  const dataDir = await mkdtemp(join(tmpdir(), 'social-posting-'));
  return use({ ...stores, dataDir }).finally(() => rm(dataDir, { recursive: true, force: true }));
}

/** Opens the stores that the environment selects, and closes them after use. The log goes to standard error. */
export async function withBareStores(use: (stores: BareStores, log: Logger) => Promise<void>): Promise<void> {
  const config = readConfig(process.env);
  await withDataDirectory(config.stores, async (selected) => {
    const stores = await openBareStores(selected, silentLog);
    try {
      await use(stores, createLogger(config, process.stderr));
    } finally {
      await stores.close();
    }
  });
}
