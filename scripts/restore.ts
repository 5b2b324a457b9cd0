import { access } from 'node:fs/promises';
import { restoreBackup } from '../db/backup/restore.js';
import { readConfig } from '../handlers/config/index.js';
import { commandLine, runCommand } from './support/command.js';
import { CommandError } from './support/command-error.js';
import { createServiceCommand } from './support/service-command.js';

async function restore({ from, ...options }: { from: string; envFile?: string }): Promise<void> {
  const { stores } = readConfig(process.env);
  if (stores.postgres) {
    throw new CommandError(
      'DATABASE_URL is set: a backup can only be restored into the embedded stores of a new DATA_DIR',
    );
  }
  await access(from);
  const files = await restoreBackup(from, stores.dataDir);
  console.log(`Restored ${files} files into ${stores.dataDir}. Check them, then start the service:`);
  for (const script of ['run verify', 'start']) console.log(`  ${commandLine(script, options)}`);
}

const command = createServiceCommand('restore', 'Restores a backup into a new DATA_DIR.')
  .requiredOption('--from <file>', 'a file that npm run backup has written')
  .action(restore);
await runCommand(command);
