import { Buffer } from 'node:buffer';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { threadId } from 'node:worker_threads';
import { now } from './trace.js';

/*
 * Preloaded into every thread of a service by `--import`. It patches `node:fs` to record every change and every fsync of files
 * and directories below RECORD_BELOW, into a file in RECORD_TO. Only the functions that the service uses are patched; replaying
 * the trace shows whether it is complete.
 */

const { RECORD_BELOW = '', RECORD_TO = '' } = process.env;
const { writeSync } = fs;
const logFd = fs.openSync(join(RECORD_TO, `${process.pid}-${threadId}.operations`), 'a');

function record(start: number, operation: Record<string, unknown>, data?: Buffer): void {
  const header = { start, end: now(), ...operation, ...(data && { bytes: data.length }) };
  writeSync(logFd, `${JSON.stringify(header)}\n`);
  for (let written = 0; data && written < data.length; ) written += writeSync(logFd, data, written);
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

function flagsOf(flags: string | number = 'r'): { create: boolean; truncate: boolean } {
  if (typeof flags === 'number') {
    return { create: (flags & fs.constants.O_CREAT) !== 0, truncate: (flags & fs.constants.O_TRUNC) !== 0 };
  }
  return { create: /^[wa]/.test(flags), truncate: flags.startsWith('w') };
}

function recordOpen(start: number, path: string, flags?: string | number): string {
  openedCount += 1;
  const file = `${process.pid}-${threadId}-${openedCount}`;
  record(start, { kind: 'open', file, path, ...flagsOf(flags) });
  return file;
}

const bytesOf = (data: unknown): Buffer => {
  if (typeof data === 'string') return Buffer.from(data);
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
};

// biome-ignore lint/suspicious/noExplicitAny: stands for the many overloads of the functions of node:fs.
type Call = (...args: any[]) => any;

/** The nesting depth of patched calls. A patched function that another one calls synchronously is not recorded. */
let depth = 0;

/** Replaces a function of an object. Calls `onSuccess`, which records the operation, when a call has succeeded. */
function patch(
  target: object,
  name: string,
  onSuccess: (start: number, result: never, args: never, self: never) => void,
) {
  const functions = target as Record<string, Call>;
  const original = functions[name];
  if (!original) return;
  functions[name] = function (this: unknown, ...args: unknown[]) {
    if (depth > 0) return original.apply(this, args);
    const start = now();
    const reportSuccess = <Result>(result: Result): Result => {
      onSuccess(start, result as never, args as never, this as never);
      return result;
    };
    depth += 1;
    try {
      const result = original.apply(this, args);
      return result instanceof Promise ? result.then(reportSuccess) : reportSuccess(result);
    } finally {
      depth -= 1;
    }
  };
}

/** Returns a handler that records an operation on a path at or below RECORD_BELOW. */
const onPath = (operation: (path: string, args: unknown[]) => Record<string, unknown>) => {
  return (start: number, _result: unknown, args: unknown[]) => {
    const path = recordedPath(args[0]);
    if (path !== undefined) record(start, operation(path, args));
  };
};

const makeDirectory = onPath((path) => ({ kind: 'make directory', path }));
const remove = onPath((path) => ({ kind: 'remove', path }));
const truncatePath = onPath((path, [, length = 0]) => ({ kind: 'truncate path', path, length }));
const rename = (start: number, _: unknown, [from, to]: [string, string]) => {
  if (recordedPath(from) ?? recordedPath(to)) record(start, { kind: 'rename', from: resolve(from), to: resolve(to) });
};

for (const [target, suffix] of [
  [fs, 'Sync'],
  [promises, ''],
] as const) {
  for (const name of ['rm', 'rmdir', 'unlink']) patch(target, name + suffix, remove);
  patch(target, `mkdir${suffix}`, makeDirectory);
  patch(target, `rename${suffix}`, rename);
  patch(target, `truncate${suffix}`, truncatePath);
}

patch(fs, 'openSync', (start, fd: number, [path, flags]: [string, number]) => {
  const absolute = recordedPath(path);
  if (absolute !== undefined) files.set(fd, recordOpen(start, absolute, flags));
});

/** Returns the fields of an operation on an open file, and its data, from the result of a call and its arguments. */
type Describe = (result: unknown, args: unknown[]) => [Record<string, unknown>, Buffer?];

const sync: Describe = () => [{ kind: 'sync' }];
const truncate: Describe = (_, [length = 0]) => [{ kind: 'truncate', length }];
/** Describes a write of bytes, or of a string at the current position. */
const write: Describe = (written, [data, offset = 0, , position]) => [
  { kind: 'write', position: typeof position === 'number' ? position : null },
  bytesOf(data).subarray(Number(offset), Number(offset) + Number(written)),
];

function recordOnFile(start: number, file: string | undefined, describe: () => ReturnType<Describe>): void {
  if (file === undefined) return;
  const [fields, data] = describe();
  record(start, { ...fields, file }, data);
}

const onDescriptor =
  (describe: Describe) =>
  (start: number, result: unknown, [fd, ...args]: unknown[]) =>
    recordOnFile(start, files.get(fd as number), () => describe(result, args));
patch(fs, 'writeSync', onDescriptor(write));
patch(fs, 'ftruncateSync', onDescriptor(truncate));
patch(fs, 'fsyncSync', onDescriptor(sync));
// A descriptor may be reused as soon as it is closed.
const { closeSync } = fs;
fs.closeSync = (fd) => {
  files.delete(fd);
  closeSync(fd);
};

// The key is the FileHandle, because its descriptor may be reused before a promise resolves.
const handles = new WeakMap<object, string>();
patch(promises, 'open', (start, handle: object, [path, flags]: [string, string]) => {
  const absolute = recordedPath(path);
  if (absolute !== undefined) handles.set(handle, recordOpen(start, absolute, flags));
});

const { writeFile } = promises;
promises.writeFile = async (path, data, options) => {
  const absolute = recordedPath(path);
  if (absolute === undefined) return writeFile(path, data, options);
  const start = now();
  const chunks: Buffer[] = [];
  // A stream can be read only once.
  const isBuffered = typeof data === 'string' || ArrayBuffer.isView(data);
  async function* copyChunks() {
    for await (const chunk of data as AsyncIterable<Buffer>) {
      chunks.push(Buffer.from(bytesOf(chunk)));
      yield chunk;
    }
  }
  await writeFile(path, isBuffered ? data : copyChunks(), options);
  const file = recordOpen(start, absolute, (options as { flag?: string } | undefined)?.flag ?? 'w');
  record(start, { kind: 'write', file, position: null }, isBuffered ? bytesOf(data) : Buffer.concat(chunks));
};

const handle = await promises.open(process.execPath);
const fileHandle = Object.getPrototypeOf(handle) as object;
await handle.close();
const onHandle = (describe: Describe) => (start: number, result: unknown, args: unknown[], self: object) =>
  recordOnFile(start, handles.get(self), () => describe(result, args));
const writeWhole: Describe = (_, [data]) => [{ kind: 'write', position: null }, bytesOf(data)];
patch(fileHandle, 'sync', onHandle(sync));
patch(fileHandle, 'truncate', onHandle(truncate));
patch(
  fileHandle,
  'write',
  onHandle((result, args) => write((result as { bytesWritten: number }).bytesWritten, args)),
);
for (const name of ['writeFile', 'appendFile']) patch(fileHandle, name, onHandle(writeWhole));

syncBuiltinESMExports();
