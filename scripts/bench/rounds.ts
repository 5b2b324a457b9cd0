import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Dataset } from './dataset.js';
import type { Load, LoadResult } from './load.js';
import { cpuMsOf, runScript } from './processes.js';
import type { ServerName, Servers } from './servers.js';
import { rotate } from './statistics.js';
import { storeServers } from './stores.js';
import type { LoadSpec, Workload } from './workloads.js';
import { runWrk } from './wrk.js';

/** The result of one load on one server. */
export interface Measurement extends LoadResult {
  /** The CPU time per successful request, in milliseconds: of the server, and of each store that has its own process. */
  cpuMs: Record<string, number>;
}

/** `against` is the service of the other checkout, with the load of the subject. */
type Target = 'subject' | 'baseline' | 'against';

/** The measurements of one workload at one number of requests in flight, by round. */
export interface Outcome extends Record<Target, Measurement[]> {
  workload: Workload;
  inFlight: number;
  /** The minimum ratio, if there is a goal. */
  goal: number | undefined;
}

interface RunOptions {
  rounds: number;
  /** The duration of one measurement. A round measures each target once. */
  seconds: number;
  /** The duration of the load before the first round. */
  warmUpSeconds: number;
}

/** wrk needs much less CPU than autocannon. */
export const GENERATOR = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk';

/** Alternates between the targets, so that changes in the machine's state affect all of them equally. */
export async function runRounds(
  { subject, baseline }: Workload,
  inFlight: number,
  dataset: Dataset,
  servers: Servers,
  { rounds, seconds, warmUpSeconds }: RunOptions,
  onRound: (round: number) => void,
): Promise<Record<Target, Measurement[]>> {
  const specs: [Target, LoadSpec][] = [
    ['subject', subject],
    ['baseline', baseline],
  ];
  if (servers.against && subject.server === 'service') specs.push(['against', { ...subject, server: 'against' }]);
  const targets: [Target, (seconds: number) => Promise<Measurement>][] = [];
  for (const [name, spec] of specs) targets.push([name, await prepareLoad(spec, inFlight, dataset, servers)]);
  const results: Record<Target, Measurement[]> = { subject: [], baseline: [], against: [] };
  if (warmUpSeconds > 0) for (const [, run] of targets) await run(warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    onRound(round);
    for (const [name, run] of rotate(targets, round)) results[name].push(await run(seconds));
  }
  return results;
}

/** Returns a function that sends the load for some seconds. */
async function prepareLoad(
  { server: name, connections, maxRequests }: LoadSpec,
  inFlight: number,
  dataset: Dataset,
  servers: Servers,
): Promise<(seconds: number) => Promise<Measurement>> {
  const server = servers[name];
  if (!server) throw new Error(`The server ${name} is not running`);
  const load = { url: server.url, maxRequests, connections: await connections(inFlight, dataset, server.url) };
  const pids = [['server', server.pid] as const, ...storeServers().map(([store, { pid }]) => [store, pid] as const)];
  const readCpu = () => Promise.all(pids.map(([, pid]) => cpuMsOf(pid)));
  return async (seconds) => {
    const before = await readCpu();
    const result = await runLoad(name, { ...load, seconds });
    const after = await readCpu();
    const perRequest = pids.map(([process], index) => {
      const ms = (after[index] ?? 0) - (before[index] ?? 0);
      return [process, ms / Math.max(1, result.succeeded)];
    });
    return { ...result, cpuMs: Object.fromEntries(perRequest) };
  };
}

/** Sends the load from a process of its own, so that it does not share an event loop with this one. */
async function runLoad(server: ServerName, load: Load): Promise<LoadResult> {
  // wrk cannot stop after a number of requests.
  if (GENERATOR === 'wrk' && load.maxRequests === undefined && server !== 'argon2') return runWrk(load);
  const script = server === 'argon2' ? 'argon2.js' : 'autocannon.js';
  return JSON.parse(await runScript([join(import.meta.dirname, script)], {}, JSON.stringify(load)));
}
