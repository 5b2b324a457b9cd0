import { migrate } from '../db/migrate.js';
import { onceAvailable, openBareStores } from '../db/stores.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { explain } from './explain.js';

try {
  const config = readConfig(process.env);
  const stores = await openBareStores(config.stores, createLogger(config.logLevel, process.stderr));
  try {
    let due = 0;
    await onceAvailable(() =>
      migrate(stores, (migration) => {
        due += 1;
        console.log(`${migration} applied`);
      }),
    );
    if (due === 0) console.log('up to date');
  } finally {
    await stores.close();
  }
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
