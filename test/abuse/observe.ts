import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Lifetime } from '../support/lifetime.js';
import { Exposition } from '../support/prometheus.js';
import type { SendOptions } from './client.js';
import type { AbusedService } from './service.js';

/** A request that an honest client repeats while the attack runs. */
export interface HonestRequest {
  name: string;
  method: string;
  path: string;
  options?: Omit<SendOptions, 'signal' | 'from'>;
  everyMs: number;
  bucket?: 'strict' | 'general';
  /** The successful statuses; 200 if omitted. */
  expected?: readonly number[];
}

export interface ObserverJob {
  url: string;
  pid: number;
  requests: readonly HonestRequest[];
}

/** The observations of the honest client during an attack. */
export interface Observation {
  /** Milliseconds, by the name of the honest request. */
  latencies: Record<string, number[]>;
  /** Counts of unexpected statuses and error codes. */
  errors: Record<string, number>;
  /** The maxima of the service process. `openFiles` is 0 on systems without /proc. */
  rssBytes: number;
  openFiles: number;
}

/** Starts an honest client. Returns a function that stops it and returns its observations. */
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

/** Generous, since the service may still be busy after an attack. */
const METRICS_TIMEOUT_MS = 20_000;

/** Returns the longest event loop delay since the last call, or undefined if the service does not respond. */
export async function readEventLoopDelayMs({ opsUrl }: AbusedService): Promise<number | undefined> {
  const metrics = await readMetrics(opsUrl);
  const seconds = metrics?.value('nodejs_eventloop_lag_max_seconds');
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Returns the metrics, or undefined if the service does not respond. */
export async function readMetrics(opsUrl: string): Promise<Exposition | undefined> {
  try {
    const response = await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    return new Exposition(await response.text());
  } catch {
    return undefined;
  }
}
