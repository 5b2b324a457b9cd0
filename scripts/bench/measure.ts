import { readFile } from 'node:fs/promises';
import type { BenchServer } from './processes.js';
import { rotate } from './statistics.js';
import type { BenchRequest, Workload } from './workloads.js';
import { type LoadResult, runWrk } from './wrk.js';

/** The result of one load on one server. */
export interface Measurement extends LoadResult {
  /** The CPU time of the server per successful request, in milliseconds; NaN if it is not known. */
  cpuMs: number;
}

/** The measurements of one workload at one number of requests in flight, by round. */
export interface Comparison {
  workload: Workload;
  inFlight: number;
  service: Measurement[];
  baseline: Measurement[];
  /** The service of the other checkout, if there is one. */
  other: Measurement[];
}

type ComparedServers = Record<'service' | 'baseline', BenchServer> & { other: BenchServer | undefined };

/** Alternates between the servers, so that changes in the machine's state affect all of them equally. */
export async function compare(
  servers: ComparedServers,
  { workload, inFlight, requests }: Pick<Comparison, 'workload' | 'inFlight'> & { requests: readonly BenchRequest[] },
  { rounds, seconds, folder }: { rounds: number; seconds: number; folder: string },
): Promise<Comparison> {
  const comparison: Comparison = { workload, inFlight, service: [], baseline: [], other: [] };
  // The first round warms the servers up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of rotate(['service', 'baseline', 'other'] as const, round)) {
      const server = servers[name];
      if (!server) continue;
      const before = await readCpuMs(server.pid);
      const result = await runWrk(server.url, requests, inFlight, seconds, folder);
      const cpuMs = ((await readCpuMs(server.pid)) - before) / Math.max(1, result.succeeded);
      if (round > 0) comparison[name].push({ ...result, cpuMs });
    }
  }
  return comparison;
}

/** Returns the CPU time of a process. Only Linux has this file, which counts in units of 10 ms. */
async function readCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // proc_pid_stat(5): the name, field 2, is in parentheses. The times in user and kernel mode are fields 14 and 15.
  const fields = stat.replace(/^.*\) /s, '').split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
