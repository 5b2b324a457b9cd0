import type { ChildProcess } from 'node:child_process';

/** Collects the output of a process. Returns a function that returns everything printed so far. */
export function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  return () => output;
}
