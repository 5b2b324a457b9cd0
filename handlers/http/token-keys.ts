import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { parseTokenKeys, type TokenKey } from './variables.js';

/** The keys kept in this file, which is made, readable by its owner alone, when there is none. */
export async function keptTokenKeys(path: string): Promise<readonly [TokenKey, ...TokenKey[]]> {
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (kept !== undefined) return parseTokenKeys(kept.trim());
  const made = `${randomBytes(6).toString('hex')}:${randomBytes(32).toString('base64url')}`;
  const file = await open(`${path}.new`, 'w', 0o600);
  await file.writeFile(`${made}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
  return parseTokenKeys(made);
}
