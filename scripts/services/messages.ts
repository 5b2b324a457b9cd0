import { readFileSync } from 'node:fs';

/** Prints to standard error, because standard output is for the variables. */
export function printMessage(name: string, message: string): void {
  console.error(`${name.padEnd(9)} ${message}`);
}

/** Formats the time since `start`, a value of `performance.now()`. */
export function formatElapsed(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

const MAX_TAIL_BYTES = 3000;

/** Returns a line with the path of a log, and the end of the log without its first `offset` bytes. */
export function tail(path: string, offset = 0): string {
  const end = readFileSync(path).subarray(offset).subarray(-MAX_TAIL_BYTES).toString();
  return `End of ${path}:\n${end.trimEnd().replace(/^/gm, '  | ')}`;
}
