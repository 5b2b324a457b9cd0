import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { HttpOptions } from '../support/http.js';
import { type Exposition, scrape } from '../support/prometheus.js';
import { PASSWORD } from '../support/users.js';
import type { AttackedService } from './service.js';

/** A request that an honest client repeats while the attack runs. */
export interface HonestRequest {
  name: string;
  method: string;
  path: string;
  options: HttpOptions;
  everyMs: number;
  /** The number of requests from each address, below the limit of the bucket. */
  perAddress: number;
  expected: readonly number[];
}

/** Returns the request for the current account, sent twenty times a second. */
export const currentAccount = ({ token }: { token: string }, options?: HttpOptions): HonestRequest => ({
  name: 'me',
  method: 'GET',
  path: '/auth/me',
  options: { token, ...options },
  everyMs: 50,
  perAddress: 200,
  expected: [200],
});

/** Returns the request to log in, sent twice a second. The service may respond with 503. */
export const logins = ({ email }: { email: string }): HonestRequest => ({
  name: 'login',
  method: 'POST',
  path: '/auth/login',
  options: { json: { email, password: PASSWORD } },
  everyMs: 500,
  perAddress: 15,
  expected: [200, 503],
});

export interface ObserverJob {
  url: string;
  requests: readonly HonestRequest[];
}

/** The observations of the honest client during an attack. */
export interface Observation {
  /** Milliseconds, by the name of the honest request. */
  latencies: Record<string, number[]>;
  errors: (number | string)[];
  /** The peak memory of the service process since its start. Infinity if it has ended. */
  peakRssBytes: number;
  /** Infinity if the service no longer responded. */
  loopDelayMs: number;
}

/** How long the honest client is observed before and after an attack. */
const MARGIN_MS = 500;

/** Starts an honest client. Returns a function that stops it and returns its observations. */
export async function observe(
  t: Test,
  { url, opsUrl, pid }: AttackedService,
  requests: readonly HonestRequest[],
): Promise<() => Promise<Observation>> {
  const job: ObserverJob = { url, requests };
  const worker = new Worker(new URL('./observer.js', import.meta.url), { workerData: job });
  t.teardown(() => worker.terminate());
  await once(worker, 'online');
  await sleep(MARGIN_MS);
  // Reading the metric resets it.
  await readEventLoopDelayMs(opsUrl);
  return async () => {
    await sleep(MARGIN_MS);
    worker.postMessage('stop');
    const [observation] = await once(worker, 'message');
    const [peakRssBytes, loopDelayMs] = [await readPeakRssBytes(pid), await readEventLoopDelayMs(opsUrl)];
    return { ...observation, peakRssBytes, loopDelayMs };
  };
}

async function readPeakRssBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Generous, since the service may still be busy after an attack. */
const METRICS_TIMEOUT_MS = 20_000;

/** Returns the longest event loop delay since the last call, or Infinity if the service does not respond. */
async function readEventLoopDelayMs(opsUrl: string): Promise<number> {
  const seconds = (await readMetrics(opsUrl))?.value('nodejs_eventloop_lag_max_seconds');
  return 1000 * (seconds ?? Number.POSITIVE_INFINITY);
}

/** Returns the metrics, or undefined if the service does not respond. */
export const readMetrics = (opsUrl: string): Promise<Exposition | undefined> =>
  scrape(opsUrl, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) }).catch(() => undefined);
