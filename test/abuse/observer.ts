import { parentPort, workerData } from 'node:worker_threads';
import pidusage from 'pidusage';
import { rotateAddresses, send } from './client.js';
import type { HonestRequest, Observation, ObserverJob } from './observe.js';

/*
 * The honest client. It runs in a worker thread, so that the attacker does not delay its timers. It is an open-loop load
 * generator: requests start at fixed times, so that a stalled service delays all of them, not only one.
 */

const SAMPLE_INTERVAL_MS = 100;

const { url, pid, requests } = workerData as ObserverJob;
const observation: Omit<Observation, 'loopDelayMs'> = { latencies: {}, errors: [], rssBytes: 0 };
const pending = new Set<Promise<void>>();

async function sendHonestRequest(honest: HonestRequest, localAddress: string): Promise<void> {
  const { name, method, path, options, expected } = honest;
  const began = performance.now();
  const outcome = await send(url, method, path, { ...options, localAddress }).then(
    ({ status }) => status,
    (error) => error.code ?? error.message,
  );
  observation.latencies[name] ??= [];
  observation.latencies[name].push(performance.now() - began);
  if (!expected.includes(outcome)) observation.errors.push(outcome);
}

const timers = requests.map((honest, index) => {
  const nextAddress = rotateAddresses(16 + index, honest.perAddress);
  return setInterval(() => {
    const running = sendHonestRequest(honest, nextAddress()).finally(() => pending.delete(running));
    pending.add(running);
  }, honest.everyMs);
});

const sampler = setInterval(async () => {
  const { memory } = await pidusage(pid).catch(() => ({ memory: 0 }));
  observation.rssBytes = Math.max(observation.rssBytes, memory);
}, SAMPLE_INTERVAL_MS);

parentPort?.once('message', async () => {
  for (const timer of timers) clearInterval(timer);
  await Promise.all(pending);
  clearInterval(sampler);
  // Without a sample, an RSS of 0 would be within every bound.
  if (observation.rssBytes === 0) observation.rssBytes = Number.POSITIVE_INFINITY;
  parentPort?.postMessage(observation);
  parentPort?.close();
});
