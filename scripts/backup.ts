import { createWriteStream, statSync } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBackup } from '../db/backup/create.js';
import { readInstallation, requireNotMoved } from '../db/installation.js';
import { openBareStores } from '../db/stores.js';
import { DataDirectoryInUseError, pathsIn } from '../db/support/data-directory.js';
import { moveFileDurably } from '../db/support/durable-files.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { BACKUP_PATH, controlSocketPath } from '../handlers/control.js';
import { requireDatabase } from './support/bare-stores.js';
import { runCommand } from './support/command.js';
import { CommandError } from './support/command-error.js';
import { createServiceCommand } from './support/service-command.js';

/** Requests the archive from the service that uses the data directory, through its control socket. */
function requestArchive(dataDir: string): Promise<Readable> {
  const socketPath = controlSocketPath(pathsIn(dataDir).control);
  return new Promise((resolveArchive, reject) => {
    const fail = (message: string) => reject(new CommandError(message));
    request({ socketPath, path: BACKUP_PATH, method: 'POST' }, (response) => {
      if (response.statusCode === 200) return resolveArchive(response);
      // Otherwise the connection would delay the exit of this process until the service closes it.
      response.resume();
      if (response.statusCode === 409) return fail('Another backup is in progress: try again later');
      fail(`The service responded to the request for a backup with ${response.statusCode}: see its log`);
    })
      .on('error', () => fail(`${dataDir} is in use by a process that does not serve backups: try again later`))
      .end();
  });
}

/** Writes the archive under a temporary name and renames it, so that a file with the final name is always complete. */
async function writeArchive(archive: Readable, path: string): Promise<void> {
  const partial = `${path}.part`;
  await rm(partial, { force: true });
  try {
    // Mode 0600: the archive contains password hashes and the keys that sign tokens.
    await pipeline(archive, createWriteStream(partial, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(partial, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNRESET')
      throw new CommandError('The service ended the backup before it was complete: see its log');
    throw error;
  }
  await moveFileDurably(partial, path);
}

async function backUp({ to, force = false }: { to: string; force?: boolean }): Promise<void> {
  const path = resolve(to);
  const existing = statSync(path, { throwIfNoEntry: false });
  // The archive must not replace a device such as /dev/null, or a pipe.
  if (existing?.isFile() === false) throw new CommandError(`--to: ${path} exists and is not a file`);
  if (existing && !force) throw new CommandError(`--to: ${path} exists: add --force to replace it`);
  await access(dirname(path));
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
    await writeArchive(opened ? Readable.from(createBackup(opened)) : await requestArchive(stores.dataDir), path);
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
