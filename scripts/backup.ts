import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createBackup } from '../db/backup/create.js';
import { type BareStores, openBareStores } from '../db/stores.js';
import { DataDirectoryInUseError } from '../db/support/data-directory.js';
import { moveFileDurably } from '../db/support/durable-files.js';
import { readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { BACKUP_PATH, controlSocket } from '../handlers/http/control.js';
import { explain } from './explain.js';
import { PlainError } from './plain-error.js';

/** The archive as the service that uses the data directory makes it. */
async function fromService(dataDir: string): Promise<Readable> {
  const socketPath = controlSocket(join(resolve(dataDir), 'control'));
  return new Promise((respond, reject) => {
    request({ socketPath, path: BACKUP_PATH, method: 'POST' }, (response) => {
      if (response.statusCode === 200) return respond(response);
      reject(new PlainError('Another backup is being made: try again later'));
    })
      .on('error', () =>
        reject(new PlainError(`${dataDir} is in use by a process that makes no backups: try again later`)),
      )
      .end();
  });
}

/** Writes under another name first: what has the file's name is whole. */
async function write(archive: Readable, path: string): Promise<void> {
  const unfinished = `${path}.part`;
  // It holds password hashes and the keys that sign tokens.
  await rm(unfinished, { force: true });
  try {
    await pipeline(archive, createWriteStream(unfinished, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET'
      ? new PlainError('The service stopped before the backup was complete: see its log')
      : error;
  }
  await moveFileDurably(unfinished, path);
}

try {
  const { to } = parseArgs({ options: { to: { type: 'string' } } }).values;
  if (to === undefined) throw new PlainError('Name the file to write: npm run backup -- --to FILE');
  const { stores, logLevel } = readConfig(process.env);
  if (stores.postgres) {
    throw new PlainError('DATABASE_URL is set: back up that server by its own means, such as pg_dump');
  }
  if (!existsSync(join(stores.dataDir, 'postgres'))) throw new PlainError(`${stores.dataDir} has no database`);
  const log = createLogger(logLevel, process.stderr);
  const opened = await openBareStores(stores, log).catch((error): undefined => {
    if (!(error instanceof DataDirectoryInUseError)) throw error;
  });
  const archive = opened ? Readable.from(createBackup(opened as BareStores)) : await fromService(stores.dataDir);
  await write(archive, resolve(to)).finally(() => opened?.close());
  if (stores.s3) console.log('Images are in S3, and are not in this backup.');
  console.log(`${to} is complete. It contains secrets: keep it as safe as ${stores.dataDir}.`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
