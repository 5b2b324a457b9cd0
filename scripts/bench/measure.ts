import pidusage from 'pidusage';
import { ask, type Server } from './children.js';
import type { LoadJob, LoadResult } from './load.js';

/** What one contender did in one round. */
export interface Measured extends Pick<LoadResult, 'rate' | 'p50' | 'p99' | 'others'> {
  /** Seconds of the processor for 1,000 requests: of the process itself, not of the stores it asks. */
  cpu: number;
  /** Of the process, in bytes. */
  memory: number;
  /** Of the load generator, as a share of one core. */
  busy: number;
}

/** Sends load to a server, and looks at its process before and after. */
export async function measure(server: Server, job: Omit<LoadJob, 'url'>): Promise<Measured> {
  const before = await pidusage(server.pid);
  const { answered, ...result } = await ask<LoadResult>('./load.js', { ...job, url: server.url });
  const after = await pidusage(server.pid);
  return { ...result, cpu: (after.ctime - before.ctime) / Math.max(1, answered), memory: after.memory };
}
