import { Readable } from 'node:stream';
import { createBackup } from '../db/backup/create.js';
import { openBareStores } from '../db/stores/index.js';
import { readInstallation, requireNotMoved } from '../db/stores/installation.js';
import { DataDirectoryInUseError } from '../db/support/data-directory.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { BACKUP_PATH } from '../handlers/control.js';
import { archivePath, writeArchiveFile } from './support/archive-file.js';
import { requireDatabase } from './support/bare-stores.js';
import { runCommand } from './support/command.js';
import { CommandError } from './support/command-error.js';
import { requestControl } from './support/control-client.js';
import { createServiceCommand } from './support/service-command.js';

async function backUp({ to, force = false }: { to: string; force?: boolean }): Promise<void> {
  const path = archivePath(to, force);
  const config = readConfig(process.env);
  const { stores } = config;
  if (stores.postgres) {
    throw new CommandError('DATABASE_URL is set: back up that server with its own tools, such as pg_dump');
  }
  requireDatabase(stores);
  const opened = await openBareStores(stores, createLogger(config, process.stderr)).catch((error): undefined => {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
  });
  try {
    const installation = opened && (await readInstallation(opened.db));
    if (installation) requireNotMoved(installation);
    // The archive contains password hashes and the keys that sign tokens.
    const archive = opened ? Readable.from(createBackup(opened)) : await requestControl(stores.dataDir, BACKUP_PATH);
    await writeArchiveFile(archive, path);
  } finally {
    await opened?.close();
  }
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
