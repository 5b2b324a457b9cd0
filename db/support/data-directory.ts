import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, open, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tryLock, waitForLock } from 'fs-native-extensions';
import { makeDirectoryDurably } from './durable-files.js';

/** What is kept is nobody else's to read, however the directory around it was made. */
export const OWNER_ONLY = 0o700;

export class DataDirectoryInUseError extends Error {
  constructor(path: string) {
    super(`${path} is in use by another process of this service`);
    this.name = 'DataDirectoryInUse';
  }
}

/** A restore was interrupted: what lies in the directory is not a whole installation. */
export class UnfinishedRestoreError extends Error {
  readonly code = 'unfinished_restore';
  constructor(path: string) {
    super(`${path} has an unfinished restore: run npm run restore again`);
    this.name = 'UnfinishedRestoreError';
  }
}

export interface DataDirectory {
  root: string;
  postgres: string;
  images: string;
  /** This process's uploads under way. */
  uploads: string;
  tokenKeys: string;
  /** Where commands reach the process that holds the claim. */
  control: string;
  /** Where a restore puts its files. While it exists, the restore is not finished. */
  restoring: string;
  release(): Promise<void>;
}

/**
 * Claims a directory for this process, alone or shared with others that keep no database in it, and lays it out. The claim
 * is a lock of the operating system's, so that it ends with the process, however that ends.
 *
 * @param restoring whether to accept a directory with an unfinished restore
 * @throws DataDirectoryInUse
 * @throws UnfinishedRestoreError
 */
export async function claimDataDirectory(
  path: string,
  { shared, restoring = false }: { shared: boolean; restoring?: boolean },
): Promise<DataDirectory> {
  const root = resolve(path);
  await makeDirectoryDurably(root, OWNER_ONLY);
  const lock = await open(join(root, 'lock'), 'a+');
  if (!tryLock(lock.fd, { shared })) {
    await lock.close();
    throw new DataDirectoryInUseError(root);
  }
  const unfinished = join(root, 'restoring');
  if (!restoring && existsSync(unfinished)) {
    await lock.close();
    throw new UnfinishedRestoreError(root);
  }
  const images = join(root, 'images');
  await makeOwn(images);
  const uploads = await claimUploads(join(root, 'uploads'));
  return {
    root,
    postgres: join(root, 'postgres'),
    images,
    uploads: uploads.path,
    tokenKeys: join(root, 'token-keys'),
    control: join(root, 'control'),
    restoring: unfinished,
    async release() {
      await uploads.release();
      await lock.close();
    },
  };
}

/** A directory for this process's own uploads, beside those of the processes that still run: what others left is removed. */
async function claimUploads(root: string): Promise<{ path: string; release(): Promise<void> }> {
  await makeOwn(root);
  const turn = await open(join(root, 'lock'), 'a+');
  await waitForLock(turn.fd);
  try {
    const names = (await readdir(root)).filter((name) => name !== 'lock').map((name) => name.replace(/\.lock$/, ''));
    for (const name of new Set(names)) await removeAbandoned(join(root, name));
    const path = join(root, randomUUID());
    await makeOwn(path);
    const lock = await open(`${path}.lock`, 'a+');
    tryLock(lock.fd);
    return {
      path,
      async release() {
        await remove(path);
        await lock.close();
      },
    };
  } finally {
    await turn.close();
  }
}

async function removeAbandoned(uploads: string): Promise<void> {
  const lock = await open(`${uploads}.lock`, 'a+');
  if (tryLock(lock.fd)) await remove(uploads);
  await lock.close();
}

async function remove(uploads: string): Promise<void> {
  await rm(uploads, { recursive: true, force: true });
  await rm(`${uploads}.lock`, { force: true });
}

export async function makeOwn(directory: string): Promise<void> {
  await makeDirectoryDurably(directory, OWNER_ONLY);
  await chmod(directory, OWNER_ONLY);
}
