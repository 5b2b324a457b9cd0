import { Buffer } from 'node:buffer';
import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { threadId } from 'node:worker_threads';
import { now } from './trace.js';

/*
 * Preloaded into every thread of a service by `--import`. Records every change and every fsync of files and directories below
 * RECORD_BELOW, into a file in RECORD_TO: it patches the synchronous functions of `node:fs` that the service uses, and replaces
 * the asynchronous ones by them. Replaying the trace shows whether it is complete.
 */

const { RECORD_BELOW = '', RECORD_TO = '' } = process.env;

// biome-ignore lint/suspicious/noExplicitAny: stands for the many overloads of the functions of node:fs.
type Value = any;
type Call = (...args: Value[]) => Value;
const patched = fs as unknown as Record<string, Call>;
const { writeSync, closeSync } = fs;

const log = fs.openSync(join(RECORD_TO, `${process.pid}-${threadId}.operations`), 'a');

function record(start: number, operation: object, data?: Buffer): void {
  writeSync(log, `${JSON.stringify({ start, end: now(), ...operation, bytes: data?.length })}\n`);
  for (let written = 0; data && written < data.length; ) written += writeSync(log, data, written);
}

/** Returns the absolute form of a path at or below RECORD_BELOW. The service uses only strings for such paths. */
function recordedPath(path: unknown): string | undefined {
  if (typeof path !== 'string') return undefined;
  const absolute = resolve(path);
  return absolute === RECORD_BELOW || absolute.startsWith(RECORD_BELOW + sep) ? absolute : undefined;
}

/** Open files of this thread by descriptor. Threads do not use each other's descriptors. */
const files = new Map<number, string>();
let openedCount = 0;

function recordOpen(start: number, fd: number, name: unknown, flags: string | number = 'r'): void {
  const path = recordedPath(name);
  if (path === undefined) return;
  openedCount += 1;
  const file = `${process.pid}-${threadId}-${openedCount}`;
  files.set(fd, file);
  const has = (flag: number, pattern: RegExp) =>
    typeof flags === 'number' ? (flags & flag) !== 0 : pattern.test(flags);
  const { O_CREAT, O_TRUNC } = fs.constants;
  record(start, { kind: 'open', file, path, create: has(O_CREAT, /^[wa]/), truncate: has(O_TRUNC, /^w/) });
}

function bytesOf(data: string | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return Buffer.from(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
}

/** The nesting depth of patched calls. A patched function that another one calls is not recorded. */
let depth = 0;

/** Replaces a synchronous function. `report` records a call after it has succeeded. */
function patch(name: string, report: (start: number, args: Value[], result: Value) => void): void {
  const original = patched[name] as Call;
  patched[name] = (...args) => {
    const start = now();
    depth += 1;
    let result: Value;
    try {
      result = original(...args);
    } finally {
      depth -= 1;
    }
    if (depth === 0) report(start, args, result);
    return result;
  };
}

const patchPath = (name: string, kind: string) =>
  patch(name, (start, [name]) => {
    const path = recordedPath(name);
    if (path !== undefined) record(start, { kind, path });
  });
patchPath('mkdirSync', 'make directory');
for (const name of ['rmSync', 'rmdirSync', 'unlinkSync']) patchPath(name, 'remove');
patch('renameSync', (start, [from, to]) => {
  if (recordedPath(from) ?? recordedPath(to)) record(start, { kind: 'rename', from: resolve(from), to: resolve(to) });
});

const patchDescriptor = (
  name: string,
  describe: (args: Value[], result: Value) => [operation: object, data?: Buffer],
) =>
  patch(name, (start, [fd, ...args], result) => {
    const file = files.get(fd);
    if (file === undefined) return;
    const [operation, data] = describe(args, result);
    record(start, { ...operation, file }, data);
  });
patch('openSync', (start, [path, flags], fd) => recordOpen(start, fd, path, flags));
patchDescriptor('writeSync', ([data, offset = 0, , position], written) => [
  { kind: 'write', position: typeof position === 'number' ? position : null },
  bytesOf(data).subarray(offset, offset + written),
]);
patchDescriptor('ftruncateSync', ([length = 0]) => [{ kind: 'truncate', length }]);
patchDescriptor('fsyncSync', () => [{ kind: 'sync' }]);
fs.closeSync = (fd) => {
  files.delete(fd);
  closeSync(fd);
};
fs.truncateSync = (path, length) => {
  const fd = fs.openSync(path, 'r+');
  fs.ftruncateSync(fd, length);
  fs.closeSync(fd);
};

const asynchronous = promises as unknown as Record<string, Call>;
for (const name of ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'truncate'])
  asynchronous[name] = async (...args) => patched[`${name}Sync`]?.(...args);

type Data = string | ArrayBufferView | AsyncIterable<Buffer>;

async function writeAll(fd: number, data: Data): Promise<void> {
  for await (const chunk of typeof data === 'string' || ArrayBuffer.isView(data) ? [data] : data) {
    for (let rest = bytesOf(chunk); rest.length > 0; ) rest = rest.subarray(fs.writeSync(fd, rest));
  }
}

asynchronous.writeFile = async (
  path: string,
  data: Data,
  { flag = 'w', mode }: { flag?: string; mode?: number } = {},
) => {
  const fd = fs.openSync(path, flag, mode);
  await writeAll(fd, data).finally(() => fs.closeSync(fd));
};

const { open } = promises;
const anyHandle = await open(process.execPath);
const handles = Object.getPrototypeOf(anyHandle) as FileHandle;
await anyHandle.close();
const { close } = handles;
promises.open = async (path, flags, mode) => {
  const start = now();
  const handle = await open(path, flags, mode);
  recordOpen(start, handle.fd, path, flags);
  return handle;
};
Object.assign(handles, {
  async sync(this: FileHandle) {
    fs.fsyncSync(this.fd);
  },
  async truncate(this: FileHandle, length?: number) {
    fs.ftruncateSync(this.fd, length);
  },
  async writeFile(this: FileHandle, data: Data) {
    await writeAll(this.fd, data);
  },
  async write(this: FileHandle, data: Buffer, ...rest: number[]) {
    return { bytesWritten: fs.writeSync(this.fd, data, ...rest), buffer: data };
  },
  close(this: FileHandle) {
    files.delete(this.fd);
    return close.call(this);
  },
});

syncBuiltinESMExports();
