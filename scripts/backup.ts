import { createBackup } from '../db/backup/create.js';
import { readInstallation, requireNotMoved } from '../db/stores/installation.js';
import { readConfig } from '../handlers/config/index.js';
import { runCommand } from './support/command.js';
import { CommandError } from './support/command-error.js';
import { type PrepareWork, withResponse } from './support/control.js';
import { outputPath, writeOutput } from './support/output-file.js';
import { createServiceCommand } from './support/service-command.js';

const prepare: PrepareWork = async (stores) => {
  const installation = await readInstallation(stores.db);
  if (installation) requireNotMoved(installation);
  return { backup: () => createBackup(stores) };
};

async function backUp({ to, force = false }: { to: string; force?: boolean }): Promise<void> {
  const path = outputPath('--to', to, force);
  const { stores } = readConfig(process.env);
  if (stores.postgres) {
    throw new CommandError('DATABASE_URL is set: back up that server with its own tools, such as pg_dump');
  }
  // The archive contains password hashes and the keys that sign tokens.
  await withResponse(prepare, '/backup', {}, (archive) => writeOutput(archive, path));
  if (stores.s3) console.log('Images are stored in S3 and are not part of this backup.');
  console.log(`${to} is complete. It contains secrets: protect it like ${stores.dataDir}.`);
}

const command = createServiceCommand(
  'backup',
  'Writes the data of the embedded stores to a file, also while the service runs.',
)
  .requiredOption('--to <file>', 'the file to write')
  .option('--force', 'replaces the file if it exists')
  .action(backUp);
await runCommand(command);
