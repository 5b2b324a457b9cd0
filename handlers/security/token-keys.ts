import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { writeFileDurably } from '../../db/support/durable-files.js';
import { parseTokenKeys, type TokenKey } from '../config/variables.js';

/** The keys kept in this file, which is made, readable by its owner alone, when there is none. */
export async function readOrCreateTokenKeys(path: string): Promise<readonly [TokenKey, ...TokenKey[]]> {
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) return parseTokenKeys(kept.trim());
  const made = `${randomBytes(6).toString('hex')}:${randomBytes(32).toString('base64url')}`;
  await writeFileDurably(path, `${made}\n`);
  return parseTokenKeys(made);
}
