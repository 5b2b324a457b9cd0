import { chmod, mkdir, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { tryLock } from 'fs-native-extensions';

/** What is kept is nobody else's to read, however the directory around it was made. */
export const OWNER_ONLY = 0o700;

export class DataDirectoryInUse extends Error {
  constructor(path: string) {
    super(`${path} is in use by another process of this service`);
    this.name = 'DataDirectoryInUse';
  }
}

export interface DataDirectory {
  postgres: string;
  images: string;
  /** Uploads under way; emptied at every start. */
  uploads: string;
  tokenKeys: string;
  release(): Promise<void>;
}

/**
 * Claims a directory for this process and lays it out. The claim is a lock of the operating system's, so that it ends with
 * the process, however that ends.
 *
 * @throws DataDirectoryInUse
 */
export async function claimDataDirectory(path: string): Promise<DataDirectory> {
  const root = resolve(path);
  const directory = {
    postgres: join(root, 'postgres'),
    images: join(root, 'images'),
    uploads: join(root, 'uploads'),
    tokenKeys: join(root, 'token-keys'),
  };
  await mkdir(root, { recursive: true, mode: OWNER_ONLY });
  const lock = await open(join(root, 'lock'), 'a+');
  if (!tryLock(lock.fd)) {
    await lock.close();
    throw new DataDirectoryInUse(root);
  }
  await rm(directory.uploads, { recursive: true, force: true });
  for (const child of [directory.images, directory.uploads]) {
    await mkdir(child, { recursive: true });
    await chmod(child, OWNER_ONLY);
  }
  return { ...directory, release: () => lock.close() };
}
