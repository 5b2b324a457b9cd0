import { migrate, prepareDatabase } from '../db/stores/migrate.js';
import { retryUntilAvailable } from '../db/support/retry.js';
import { withBareStores } from './support/bare-stores.js';
import { runCommand } from './support/command.js';
import { createServiceCommand } from './support/service-command.js';

const command = createServiceCommand('migrate', 'Applies the migrations of all stores.').action(() =>
  withBareStores(async (stores) => {
    const applied = await retryUntilAvailable(() => prepareDatabase(stores));
    for (const migration of applied) console.log(`${migration} applied`);
    await retryUntilAvailable(() => migrate(stores));
    if (applied.length === 0) console.log('up to date');
  }),
);
await runCommand(command);
