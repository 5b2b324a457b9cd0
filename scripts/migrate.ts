import { migrate } from '../db/migrate.js';
import { retryUntilAvailable } from '../db/support/retry.js';
import { withBareStores } from './support/bare-stores.js';
import { runCommand } from './support/command.js';
import { createServiceCommand } from './support/service-command.js';

const command = createServiceCommand('migrate', 'Applies the migrations of all stores.').action(() =>
  withBareStores(async (stores) => {
    let applied = 0;
    await retryUntilAvailable(() =>
      migrate(stores, (migration) => {
        applied += 1;
        console.log(`${migration} applied`);
      }),
    );
    if (applied === 0) console.log('up to date');
  }),
);
await runCommand(command);
