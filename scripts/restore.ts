import { access } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { restoreBackup } from '../db/backup/restore.js';
import { readConfig } from '../handlers/config/index.js';
import { runCommand } from './support/command.js';
import { CommandError } from './support/command-error.js';

await runCommand(async () => {
  const { from } = parseArgs({ options: { from: { type: 'string' } } }).values;
  if (from === undefined) throw new CommandError('--from is missing: npm run restore -- --from FILE');
  const { stores } = readConfig(process.env);
  if (stores.postgres) {
    throw new CommandError(
      'DATABASE_URL is set: a backup can only be restored into the embedded stores of a new DATA_DIR',
    );
  }
  await access(from).catch(({ message }: Error) => {
    throw new CommandError(`--from: ${message}`);
  });
  const files = await restoreBackup(from, stores.dataDir);
  console.log(`Restored ${files} files into ${stores.dataDir}. Check them with npm run verify, then run npm start.`);
});
