import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Prints to standard error, because standard output is for the variables. */
export function printProgress(name: string, message: string): void {
  console.error(`${name.padEnd(9)} ${message}`);
}

/** Formats the time since `start`, a value of `performance.now()`. */
export function formatElapsed(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

const MAX_TAIL_BYTES = 3000;

/** Returns the end of a log, without its first `from` bytes, below a line with its path. */
export function tail(path: string, from = 0): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Math.max(from, size - MAX_TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(file, buffer, 0, buffer.length, start);
    return `End of ${path}:\n${buffer.toString().trimEnd().replace(/^/gm, '  | ')}`;
  } finally {
    closeSync(file);
  }
}
