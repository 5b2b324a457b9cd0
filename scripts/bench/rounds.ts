import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Dataset } from './dataset.js';
import type { Load, LoadResult } from './load.js';
import { cpuMsBetween, cpuTimesOf, runScript } from './processes.js';
import type { Servers } from './servers.js';
import { rotate } from './statistics.js';
import { storeServers } from './stores.js';
import type { LoadSpec, Workload } from './workloads.js';
import { runWrk } from './wrk.js';

/** The result of one load on one server. */
export interface Measurement extends LoadResult {
  /**
   * The CPU time per successful request, in milliseconds: of the server, and of each store that has its own process; undefined
   * if it could not be measured.
   */
  cpuMs: Record<string, number | undefined>;
}

/** `otherCheckout` is the service of the other checkout, with the load of the subject. */
type Target = 'subject' | 'baseline' | 'otherCheckout';

/** The measurements of one workload at one number of requests in flight, by round. */
export interface Outcome extends Record<Target, Measurement[]> {
  workload: Workload;
  inFlight: number;
  /** The minimum ratio, if there is a goal. */
  goal: number | undefined;
}

const STORES_WARM_UP = { inFlight: 128, seconds: 15 };

/** wrk needs much less CPU than autocannon. */
export const GENERATOR = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk';

/**
 * Alternates between the targets, so that changes in the machine's state affect all of them equally.
 *
 * @param seconds the duration of one measurement. A round measures each target once.
 * @param warmUpSeconds the duration of the load before the first round
 */
export async function runRounds(
  { subject, baseline }: Workload,
  inFlight: number,
  dataset: Dataset,
  servers: Servers,
  { rounds, seconds, warmUpSeconds }: { rounds: number; seconds: number; warmUpSeconds: number },
  onRound: (round: number) => void,
): Promise<Record<Target, Measurement[]>> {
  const results: Record<Target, Measurement[]> = { subject: [], baseline: [], otherCheckout: [] };
  const prepare = async (target: Target, spec: LoadSpec) => {
    const run = await prepareLoad(spec, inFlight, dataset, servers);
    return { run, results: results[target] };
  };
  const targets = [await prepare('subject', subject), await prepare('baseline', baseline)];
  if (servers.otherCheckout && subject.server === 'service' && !subject.isNew) {
    targets.push(await prepare('otherCheckout', { ...subject, server: 'otherCheckout' }));
  }
  if (warmUpSeconds > 0) for (const { run } of targets) await run(warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    onRound(round);
    for (const { run, results } of rotate(targets, round)) results.push(await run(seconds));
  }
  return results;
}

/** Puts the subject of a workload under load, so that Neo4j's JVM has compiled the queries before the first measurement. */
export async function warmUpStores({ subject }: Workload, dataset: Dataset, servers: Servers) {
  const run = await prepareLoad(subject, STORES_WARM_UP.inFlight, dataset, servers);
  await run(STORES_WARM_UP.seconds);
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
  const { url } = server;
  const load = { url, maxRequests, connections: await connections(inFlight, dataset, url) };
  const processes = [['server', server] as const, ...storeServers()];
  const readCpu = () => Promise.all(processes.map(([, { pid }]) => cpuTimesOf(pid)));
  return async (seconds) => {
    const before = await readCpu();
    const result = await runLoad({ ...load, seconds });
    const after = await readCpu();
    const cpuMs = processes.map(([processName], index) => {
      const ms = cpuMsBetween(before[index] ?? new Map(), after[index] ?? new Map());
      return [processName, ms === undefined ? undefined : ms / Math.max(1, result.succeeded)];
    });
    return { ...result, cpuMs: Object.fromEntries(cpuMs) };
  };
}

/** Sends the load from a process of its own, so that it does not share an event loop with this one. */
async function runLoad(load: Load): Promise<LoadResult> {
  // wrk cannot stop after a number of requests.
  if (GENERATOR === 'wrk' && load.maxRequests === undefined) return runWrk(load);
  return JSON.parse(await runScript([join(import.meta.dirname, 'autocannon.js')], {}, JSON.stringify(load)));
}
