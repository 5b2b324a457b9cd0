import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';
import type { Lifetime } from './lifetime.js';

/** Returns the path of an open file. Linux only. */
const pathOf = (descriptor: number) => fs.readlinkSync(`/proc/self/fd/${descriptor}`);

/**
 * Returns an array to which each later fsync and rename call of this thread below a directory is added, as `sync PATH` or
 * `rename FROM TO`. The path of the directory itself is empty.
 */
export async function recordFileOperations(t: Lifetime, root: string): Promise<string[]> {
  const operations: string[] = [];
  const record = (verb: string, ...paths: string[]) => {
    const names = paths.map((path) => relative(root, path));
    if (names.every((name) => !name.startsWith('..'))) operations.push([verb, ...names].join(' ').trim());
  };
  const handle = await open(root);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const original = {
    renameSync: fs.renameSync,
    fsyncSync: fs.fsyncSync,
    rename: fs.promises.rename,
    sync: prototype.sync,
  };
  fs.fsyncSync = (descriptor) => {
    record('sync', pathOf(descriptor));
    original.fsyncSync(descriptor);
  };
  fs.renameSync = (from, to) => {
    record('rename', String(from), String(to));
    original.renameSync(from, to);
  };
  fs.promises.rename = async (from, to) => {
    record('rename', String(from), String(to));
    return original.rename(from, to);
  };
  prototype.sync = function (this: { fd: number }) {
    record('sync', pathOf(this.fd));
    return original.sync.call(this);
  };
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.fsyncSync = original.fsyncSync;
    fs.renameSync = original.renameSync;
    fs.promises.rename = original.rename;
    prototype.sync = original.sync;
    syncBuiltinESMExports();
  });
  return operations;
}
