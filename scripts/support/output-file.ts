import { accessSync, createWriteStream, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { moveFileDurably } from '../../db/support/durable-files.js';
import { CommandError } from './command-error.js';

/**
 * Returns the absolute path of the file to write that an option names. It may replace a file if `force` is set, but no device such
 * as /dev/null, and no pipe.
 */
export function outputPath(option: string, to: string, force: boolean): string {
  const path = resolve(to);
  const existing = statSync(path, { throwIfNoEntry: false });
  if (existing?.isFile() === false) throw new CommandError(`${option}: ${path} exists and is not a file`);
  if (existing && !force) throw new CommandError(`${option}: ${path} exists: add --force to replace it`);
  accessSync(dirname(path));
  return path;
}

/**
 * Writes a file under a temporary name and renames it, so that a file with the final name is always complete. Only its owner may
 * read it.
 *
 * @param content what a control server sends
 */
export async function writeOutput(content: Readable, path: string): Promise<void> {
  const partial = `${path}.part`;
  await rm(partial, { force: true });
  try {
    await pipeline(content, createWriteStream(partial, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await rm(partial, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNRESET') throw new CommandError('The service did not send the whole file: see its log');
    // The same, if the content came from this process.
    if (code === 'LIGHT_ECONNRESET') throw new CommandError('The file is incomplete: see the log');
    throw error;
  }
  await moveFileDurably(partial, path);
}
