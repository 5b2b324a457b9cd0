import { migrate } from '../db/migrate.js';
import { openBareStores } from '../db/stores.js';
import { retryUntilAvailable } from '../db/support/retry.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { explain } from './explain.js';

try {
  const config = readConfig(process.env);
  const stores = await openBareStores(config.stores, createLogger(config, process.stderr));
  try {
    let applied = 0;
    await retryUntilAvailable(() =>
      migrate(stores, (migration) => {
        applied += 1;
        console.log(`${migration} applied`);
      }),
    );
    if (applied === 0) console.log('up to date');
  } finally {
    await stores.close();
  }
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
