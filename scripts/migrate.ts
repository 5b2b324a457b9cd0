import { parseArgs } from 'node:util';
import { migrate } from '../db/migrate.js';
import { retryUntilAvailable } from '../db/support/retry.js';
import { withBareStores } from './support/bare-stores.js';
import { runCommand } from './support/command.js';

await runCommand(async () => {
  // Takes no arguments, and must not migrate the stores if it gets one, such as --help.
  parseArgs({ options: {} });
  await withBareStores(async (stores) => {
    let applied = 0;
    await retryUntilAvailable(() =>
      migrate(stores, (migration) => {
        applied += 1;
        console.log(`${migration} applied`);
      }),
    );
    if (applied === 0) console.log('up to date');
  });
});
