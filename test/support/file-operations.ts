import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';
import type { Test } from 'tap';

/** Returns the path of an open file. Linux only. */
const pathOf = (descriptor: number) => fs.readlinkSync(`/proc/self/fd/${descriptor}`);

/**
 * Returns an array to which each later fsync and rename call of this thread below a directory is added, as `sync PATH` or
 * `rename FROM TO`. The path of the directory itself is empty.
 */
export async function recordFileOperations(t: Test, root: string): Promise<string[]> {
  const operations: string[] = [];
  const record = (verb: string, ...paths: string[]) => {
    const names = paths.map((path) => relative(root, path));
    if (names.every((name) => !name.startsWith('..'))) operations.push([verb, ...names].join(' ').trim());
  };
  /** Records the calls of a method, until the test ends. `pathsOf` returns the paths that a call affects. */
  function recordCalls(
    owner: object,
    method: string,
    verb: string,
    pathsOf: (args: unknown[], self: unknown) => string[],
  ) {
    const original = Reflect.get(owner, method);
    Reflect.set(owner, method, function (this: unknown, ...args: unknown[]) {
      record(verb, ...pathsOf(args, this));
      return Reflect.apply(original, this, args);
    });
    syncBuiltinESMExports();
    t.teardown(() => {
      Reflect.set(owner, method, original);
      syncBuiltinESMExports();
    });
  }
  const handle = await open(root);
  await handle.close();
  recordCalls(fs, 'fsyncSync', 'sync', ([descriptor]) => [pathOf(descriptor as number)]);
  recordCalls(fs, 'renameSync', 'rename', (paths) => paths.map(String));
  recordCalls(fs.promises, 'rename', 'rename', (paths) => paths.map(String));
  recordCalls(Object.getPrototypeOf(handle), 'sync', 'sync', (_, self) => [pathOf((self as { fd: number }).fd)]);
  return operations;
}
