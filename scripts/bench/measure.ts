import pidusage from 'pidusage';
import { runScript, type Server } from './children.js';
import type { LoadJob, LoadResult } from './load.js';

/** The results of one server in one round. */
export interface Measurement extends Pick<LoadResult, 'rate' | 'p50' | 'p99' | 'failures'> {
  /** The CPU time of the server's process (not of the stores) per successful request. */
  cpuMs: number;
  /** The resident set size of the server's process after the round. */
  rssBytes: number;
  /** The CPU time of the load generator as a share of one core. */
  generatorCpuShare: number;
}

/** Sends load to a server and measures the resources of its process. */
export async function measure(server: Server, job: Omit<LoadJob, 'url'>): Promise<Measurement> {
  const before = await pidusage(server.pid);
  const { succeeded, ...result } = await runScript<LoadResult>('./load.js', { ...job, url: server.url });
  const after = await pidusage(server.pid);
  return { ...result, cpuMs: (after.ctime - before.ctime) / Math.max(1, succeeded), rssBytes: after.memory };
}
