import type { Logger } from 'pino';
import { type BareStores, openBareStores } from '../db/stores.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';

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
