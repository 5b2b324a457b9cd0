import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The trace format: one line of JSON for each operation, followed by `bytes` bytes of data. All threads and processes of a
 * machine share the clock of `process.hrtime`, so the operations of several files can be ordered. Times are in nanoseconds,
 * which a number represents exactly for 104 days of uptime.
 */

/** Returns the current time. */
export const now = () => Number(process.hrtime.bigint());

/** The times at which an operation or a request began and ended. */
export interface Span {
  start: number;
  end: number;
}

/** Paths are absolute. `file` identifies an open file. */
export type DiskOperation = Span &
  (
    | { kind: 'open'; file: string; path: string; create: boolean; truncate: boolean }
    | { kind: 'write'; file: string; position: number | null; data: Buffer }
    | { kind: 'truncate'; file: string; length: number }
    | { kind: 'sync'; file: string }
    | { kind: 'rename'; from: string; to: string }
    | { kind: 'make directory'; path: string }
    | { kind: 'remove'; path: string }
  );

/** Reads the operations of all threads in a trace directory, ordered by start time. */
export function readOperations(directory: string): DiskOperation[] {
  const operations: DiskOperation[] = [];
  for (const name of readdirSync(directory).filter((name) => name.endsWith('.operations'))) {
    const bytes = readFileSync(join(directory, name));
    for (let at = 0; at < bytes.length; ) {
      const newline = bytes.indexOf(10, at);
      const { bytes: length, ...operation } = JSON.parse(bytes.toString('utf8', at, newline));
      at = newline + 1;
      operations.push({ ...operation, data: bytes.subarray(at, at + (length ?? 0)) });
      at += length ?? 0;
    }
  }
  return operations.sort((one, other) => one.start - other.start);
}
