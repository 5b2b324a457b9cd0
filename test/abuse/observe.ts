import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Lifetime } from '../support/lifetime.js';
import { Exposition } from '../support/prometheus.js';
import type { Sent } from './client.js';
import type { AbusedService } from './service.js';

/** A request that an honest client sends again and again while the attack runs. */
export interface HonestRequest {
  name: string;
  method: string;
  path: string;
  sent?: Omit<Sent, 'signal' | 'from'>;
  everyMs: number;
  bucket?: 'strict' | 'general';
  /** The statuses that are no error; 200 if omitted. */
  expected?: readonly number[];
}

export interface ObserverJob {
  url: string;
  pid: number;
  requests: readonly HonestRequest[];
}

/** What was seen during an attack. */
export interface Observation {
  /** Milliseconds, by the name of the honest request. */
  latencies: Record<string, number[]>;
  /** How often each unexpected status, or error code, occurred. */
  errors: Record<string, number>;
  /** The highest values of the service's process. `files` stays 0 where the system does not tell. */
  rssBytes: number;
  files: number;
}

/** Starts an honest client beside a service and returns a function that ends it and returns what it saw. */
export async function observe(
  lifetime: Lifetime,
  { url, pid }: AbusedService,
  requests: readonly HonestRequest[],
): Promise<() => Promise<Observation>> {
  const job: ObserverJob = { url, pid, requests };
  const worker = new Worker(new URL('./observer.js', import.meta.url), { workerData: job });
  lifetime.teardown(() => worker.terminate());
  await once(worker, 'online');
  return async () => {
    worker.postMessage('stop');
    const [observation] = (await once(worker, 'message')) as [Observation];
    return observation;
  };
}

/** How long metrics may take, in milliseconds: after an attack the service may still be busy. */
const METRICS_TIMEOUT_MS = 20_000;

/** The longest delay of the event loop since the last call, in milliseconds; undefined if the service does not respond. */
export async function eventLoopDelayMs({ opsUrl }: AbusedService): Promise<number | undefined> {
  const metrics = await readMetrics(opsUrl);
  const seconds = metrics?.value('nodejs_eventloop_lag_max_seconds');
  return seconds === undefined ? undefined : seconds * 1000;
}

export async function readMetrics(opsUrl: string): Promise<Exposition | undefined> {
  try {
    const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    return new Exposition(await response.text());
  } catch {
    return undefined;
  }
}
