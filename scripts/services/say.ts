import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Progress goes to standard error: standard output is for the variables. */
export function say(who: string, what: string): void {
  console.error(`${who.padEnd(9)} ${what}`);
}

/** A duration since `start` (of `performance.now()`), for people. */
export function since(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** How much of a log an error shows, in bytes. */
const TAIL = 3000;

/** The end of a log, after its first `from` bytes, under a line that names it. */
export function tail(path: string, from = 0): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const start = Math.max(from, size - TAIL);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(file, buffer, 0, buffer.length, start);
    return `The end of ${path}:\n${buffer.toString().trimEnd().replace(/^/gm, '  | ')}`;
  } finally {
    closeSync(file);
  }
}
