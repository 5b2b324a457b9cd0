import { readdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import pidusage from 'pidusage';
import { rotateAddresses } from './addresses.js';
import { send } from './client.js';
import type { HonestRequest, Observation, ObserverJob } from './observe.js';

/*
 * The honest client. It runs in a worker thread, so that the attacker does not delay its timers. It is an open-loop load
 * generator: requests start at fixed times, so that a stalled service delays all of them, not only one.
 */

/** Keeps each address below the limit of its bucket. */
const REQUESTS_PER_ADDRESS = { strict: 15, general: 200 };
const SAMPLE_INTERVAL_MS = 100;

const { url, pid, requests } = workerData as ObserverJob;
const observation: Observation = { latencies: {}, errors: {}, rssBytes: 0, openFiles: 0 };
const pending = new Set<Promise<void>>();

async function sendHonestRequest(honest: HonestRequest, from: string): Promise<void> {
  const { name, method, path, options, expected = [200] } = honest;
  const began = performance.now();
  const outcome = await send(url, method, path, { ...options, from }).then(
    ({ status }) => status,
    (error) => error.code ?? error.message,
  );
  observation.latencies[name] ??= [];
  observation.latencies[name].push(performance.now() - began);
  if (!expected.includes(outcome)) observation.errors[outcome] = (observation.errors[outcome] ?? 0) + 1;
}

const timers = requests.map((honest, index) => {
  const nextAddress = rotateAddresses(16 + index, REQUESTS_PER_ADDRESS[honest.bucket ?? 'general']);
  return setInterval(() => {
    const running = sendHonestRequest(honest, nextAddress()).finally(() => pending.delete(running));
    pending.add(running);
  }, honest.everyMs);
});

const sampler = setInterval(async () => {
  const { memory } = await pidusage(pid).catch(() => ({ memory: 0 }));
  observation.rssBytes = Math.max(observation.rssBytes, memory);
  try {
    observation.openFiles = Math.max(observation.openFiles, readdirSync(`/proc/${pid}/fd`).length);
  } catch {
    // The folder exists only on Linux and while the process runs.
  }
}, SAMPLE_INTERVAL_MS);

parentPort?.once('message', async () => {
  for (const timer of timers) clearInterval(timer);
  await Promise.all(pending);
  clearInterval(sampler);
  parentPort?.postMessage(observation);
  parentPort?.close();
});
