import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tryLock, waitForLock } from 'fs-native-extensions';
import { makeDirectoryDurably } from './durable-files.js';

/** The mode of all subdirectories: private even if the parent directory is not. */
export const OWNER_ONLY_MODE = 0o700;

export class DataDirectoryInUseError extends Error {
  readonly code = 'data_directory_in_use';

  /** @param pid undefined if several processes share the directory, or if the process has not yet recorded its id */
  constructor(path: string, pid: string | undefined) {
    super(
      `${path} is in use by ${pid ? `process ${pid}` : 'another process'} of this service: stop it first, or set DATA_DIR to another directory`,
    );
    this.name = 'DataDirectoryInUseError';
  }
}

/** A restore was interrupted: the directory contains an incomplete installation. */
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
  /** This process's uploads in progress. */
  uploads: string;
  tokenKeys: string;
  /** The directory of the control socket of the process that holds the claim. */
  control: string;
  /** The path that a restore extracts to. While it exists, the restore is unfinished. */
  restoring: string;
  release(): Promise<void>;
}

/**
 * Claims a directory for this process and creates its subdirectories. Processes without an embedded database may share it. The
 * claim is a file lock, which the operating system releases when the process ends.
 *
 * @param allowUnfinishedRestore whether to accept a directory with an unfinished restore
 * @throws DataDirectoryInUseError
 * @throws UnfinishedRestoreError
 */
export async function claimDataDirectory(
  path: string,
  { shared, allowUnfinishedRestore = false }: { shared: boolean; allowUnfinishedRestore?: boolean },
): Promise<DataDirectory> {
  const root = resolve(path);
  await makeDirectoryDurably(root, OWNER_ONLY_MODE);
  const lock = await open(join(root, 'lock'), 'a+');
  if (!tryLock(lock.fd, { shared })) {
    const [pid] = /^\d+$/m.exec(await lock.readFile('utf8')) ?? [];
    await lock.close();
    throw new DataDirectoryInUseError(root, pid);
  }
  // On a full disk this fails, and the message of `DataDirectoryInUseError` lacks the id.
  await recordPid(lock, shared).catch(() => undefined);
  const restoring = join(root, 'restoring');
  if (!allowUnfinishedRestore && existsSync(restoring)) {
    await lock.close();
    throw new UnfinishedRestoreError(root);
  }
  const images = join(root, 'images');
  await makePrivateDirectory(images);
  const uploads = await claimUploads(join(root, 'uploads'));
  return {
    root,
    postgres: join(root, 'postgres'),
    images,
    uploads: uploads.path,
    tokenKeys: join(root, 'token-keys'),
    control: join(root, 'control'),
    restoring,
    async release() {
      await uploads.release();
      await lock.close();
    },
  };
}

/** Replaces the id of an earlier process. Processes that share the directory record none. */
async function recordPid(lock: FileHandle, shared: boolean): Promise<void> {
  await lock.truncate();
  if (!shared) await lock.write(`${process.pid}\n`);
}

/** Creates a directory for this process's uploads, and removes those of processes that have ended. */
async function claimUploads(root: string): Promise<{ path: string; release(): Promise<void> }> {
  await makePrivateDirectory(root);
  const rootLock = await open(join(root, 'lock'), 'a+');
  await waitForLock(rootLock.fd);
  try {
    const names = (await readdir(root)).filter((name) => name !== 'lock').map((name) => name.replace(/\.lock$/, ''));
    for (const name of new Set(names)) await removeAbandoned(join(root, name));
    const path = join(root, randomUUID());
    await makePrivateDirectory(path);
    const lock = await open(`${path}.lock`, 'a+');
    tryLock(lock.fd);
    return {
      path,
      async release() {
        await removeUploads(path);
        await lock.close();
      },
    };
  } finally {
    await rootLock.close();
  }
}

/** Removes a directory of uploads unless its process is still running. */
async function removeAbandoned(uploads: string): Promise<void> {
  const lock = await open(`${uploads}.lock`, 'a+');
  if (tryLock(lock.fd)) await removeUploads(uploads);
  await lock.close();
}

async function removeUploads(uploads: string): Promise<void> {
  await rm(uploads, { recursive: true, force: true });
  await rm(`${uploads}.lock`, { force: true });
}

export async function makePrivateDirectory(directory: string): Promise<void> {
  await makeDirectoryDurably(directory, OWNER_ONLY_MODE);
  await chmod(directory, OWNER_ONLY_MODE);
}
