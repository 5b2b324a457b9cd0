import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';

/** The environment of a run. */
export interface Machine {
  processor: string;
  node: string;
  /** The names and versions of the stores. */
  stores: string;
  commit: string;
  date: string;
}

const GIB = 2 ** 30;

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return '';
  }
}

export function describeMachine(stores: string): Machine {
  // Without the files that a run writes itself.
  const sources = ['.', ':!README.md', ':!scripts/bench/results'];
  const suffix = git('status', '--porcelain', '--', ...sources) ? ', with changes' : '';
  return {
    processor: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? process.arch}, ${Math.round(totalmem() / GIB)} GiB`,
    node: process.version,
    stores,
    commit: `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${suffix}`,
    date: new Date().toISOString().slice(0, 10),
  };
}
