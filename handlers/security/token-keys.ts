import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { EnvError } from 'envalid';
import { writeFileDurably } from '../../db/support/durable-files.js';
import { ConfigError } from '../config/index.js';
import { parseTokenKeys, type TokenKeys } from '../config/variables.js';

/** Reads the token keys from a file. Returns undefined if the file does not exist. @throws ConfigError */
export async function readTokenKeys(path: string): Promise<TokenKeys | undefined> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (content === undefined) return undefined;
  try {
    return parseTokenKeys(content.trim());
  } catch (error) {
    throw error instanceof EnvError ? new ConfigError(`${path}: ${error.message}`) : error;
  }
}

/** Reads the token keys from a file. If the file does not exist, creates it with one random key and mode 0600. */
export async function readOrCreateTokenKeys(path: string): Promise<TokenKeys> {
  const existing = await readTokenKeys(path);
  if (existing) return existing;
  const created = `${randomBytes(6).toString('hex')}:${randomBytes(32).toString('base64url')}`;
  await writeFileDurably(path, `${created}\n`);
  return parseTokenKeys(created);
}
