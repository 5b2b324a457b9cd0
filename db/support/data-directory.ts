import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tryLock, waitForLock } from 'fs-native-extensions';
import { makeDirectoryDurably } from './durable-files.js';

/*
 * The data directory, `DATA_DIR`: embedded stores, token keys and uploads in progress. File locks prevent two processes
 * from using the same embedded database. The operating system releases them when a process ends, even after a crash.
 */

/** The mode of the data directory when it is created, and of all its subdirectories. */
export const OWNER_ONLY_MODE = 0o700;

const OWNER_ONLY_FILE_MODE = 0o600;

/** Another process has claimed the data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
  readonly code = 'data_directory_in_use';

  /** @param pid the id of that process; undefined if it has not recorded its id, or if several processes share the directory */
  constructor(path: string, pid: string | undefined) {
    super(
      `${path} is in use by ${pid ? `process ${pid}` : 'another process'} of this service: stop it first, or set DATA_DIR to another directory`,
    );
  }
}

/** A restore was interrupted, so the data directory contains an incomplete installation. */
export class UnfinishedRestoreError extends Error {
  override readonly name = 'UnfinishedRestoreError';
  readonly code = 'unfinished_restore';

  constructor(path: string) {
    super(`${path} has an unfinished restore: run npm run restore again`);
  }
}

/** Returns the paths in a data directory, which need not exist. */
export function pathsIn(directory: string) {
  const root = resolve(directory);
  return {
    root,
    /** The file whose lock is the claim. It contains the id of the process. */
    lock: join(root, 'lock'),
    postgres: join(root, 'postgres'),
    images: join(root, 'images'),
    /** The file with the token keys. */
    tokenKeys: join(root, 'token-keys'),
    /** The directory of the control socket, on which the process that has claimed the data directory receives backup requests. */
    control: join(root, 'control'),
    /** The directory to which a restore extracts files. While it exists, the restore is unfinished. */
    restoring: join(root, 'restoring'),
  };
}

export interface DataDirectory extends Omit<ReturnType<typeof pathsIn>, 'lock'> {
  /** The directory for the uploads in progress of this process. */
  uploads: string;
  /** Releases the claim, and removes the uploads of this process. */
  release(): Promise<void>;
}

/**
 * Claims a data directory for this process, and creates its subdirectories.
 *
 * @param shared whether other processes may share the directory, because this process has no embedded database
 * @param allowUnfinishedRestore whether to accept a directory with an unfinished restore
 * @throws DataDirectoryInUseError
 * @throws UnfinishedRestoreError
 */
export async function claimDataDirectory(
  path: string,
  { shared, allowUnfinishedRestore = false }: { shared: boolean; allowUnfinishedRestore?: boolean },
): Promise<DataDirectory> {
  const { lock: lockPath, ...paths } = pathsIn(path);
  const { root, images, restoring } = paths;
  await makeDirectoryDurably(root, OWNER_ONLY_MODE).catch(nameVariable);
  const lock = await open(lockPath, 'a+', OWNER_ONLY_FILE_MODE).catch(nameVariable);
  // Otherwise any user of the machine could hold the lock, and prevent the start.
  await lock.chmod(OWNER_ONLY_FILE_MODE);
  if (!tryLock(lock.fd, { shared })) {
    const [pid] = /^\d+$/m.exec(await lock.readFile('utf8')) ?? [];
    await lock.close();
    throw new DataDirectoryInUseError(root, pid);
  }
  try {
    // On a full disk this fails. The message of `DataDirectoryInUseError` then lacks the process id.
    await recordPid(lock, shared).catch(() => undefined);
    if (!allowUnfinishedRestore && existsSync(restoring)) throw new UnfinishedRestoreError(root);
    await makePrivateDirectory(images);
    const uploads = await claimUploads(join(root, 'uploads'));
    return {
      ...paths,
      uploads: uploads.path,
      async release() {
        await uploads.release();
        await lock.close();
      },
    };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

/** Adds the name of the variable to the error of a data directory that cannot be created or written. */
function nameVariable(error: Error): never {
  error.message = `DATA_DIR cannot be used: ${error.message}`;
  throw error;
}

/** Replaces the recorded id of an earlier process. Processes that share the directory record no id. */
async function recordPid(lock: FileHandle, shared: boolean): Promise<void> {
  await lock.truncate();
  if (!shared) await lock.write(`${process.pid}\n`);
}

/** Creates a directory for the uploads of this process. Removes the directories of processes that have ended. */
async function claimUploads(root: string): Promise<{ path: string; release(): Promise<void> }> {
  await makePrivateDirectory(root);
  // Prevents other processes from removing the new directory before it is locked.
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

/** Removes a directory of uploads, unless its process is still running. */
async function removeAbandoned(uploads: string): Promise<void> {
  const lock = await open(`${uploads}.lock`, 'a+');
  if (tryLock(lock.fd)) await removeUploads(uploads);
  await lock.close();
}

async function removeUploads(uploads: string): Promise<void> {
  await rm(uploads, { recursive: true, force: true });
  await rm(`${uploads}.lock`, { force: true });
}

/** Creates a directory that only its owner can access. Corrects the mode of an existing one. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await makeDirectoryDurably(directory, OWNER_ONLY_MODE);
  await chmod(directory, OWNER_ONLY_MODE);
}
