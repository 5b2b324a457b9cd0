import { readdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import pidusage from 'pidusage';
import { addresses } from './addresses.js';
import { send } from './client.js';
import type { HonestRequest, Observation, ObserverJob } from './observe.js';

/*
 * Runs as a worker thread, so that the attacker's work does not delay its clock. Requests start at fixed times, whether or
 * not the earlier ones have a response: a service that stands still makes all of them slow, not just one.
 */

/** Each address stays below the limits of its bucket. */
const REQUESTS_PER_ADDRESS = { strict: 15, general: 200 };
const SAMPLE_INTERVAL_MS = 100;

const { url, pid, requests } = workerData as ObserverJob;
const observation: Observation = { latencies: {}, errors: {}, rssBytes: 0, files: 0 };
const underWay = new Set<Promise<void>>();

async function sendHonestRequest(honest: HonestRequest, from: string): Promise<void> {
  const { name, method, path, sent, expected = [200] } = honest;
  const began = performance.now();
  const outcome = await send(url, method, path, { ...sent, from }).then(
    ({ status }) => status,
    (error) => error.code ?? error.message,
  );
  observation.latencies[name] ??= [];
  observation.latencies[name].push(performance.now() - began);
  if (!expected.includes(outcome)) observation.errors[outcome] = (observation.errors[outcome] ?? 0) + 1;
}

const timers = requests.map((honest, index) => {
  const nextAddress = addresses(16 + index, REQUESTS_PER_ADDRESS[honest.bucket ?? 'general']);
  return setInterval(() => {
    const running = sendHonestRequest(honest, nextAddress()).finally(() => underWay.delete(running));
    underWay.add(running);
  }, honest.everyMs);
});

const sampler = setInterval(async () => {
  const { memory } = await pidusage(pid).catch(() => ({ memory: 0 }));
  observation.rssBytes = Math.max(observation.rssBytes, memory);
  try {
    observation.files = Math.max(observation.files, readdirSync(`/proc/${pid}/fd`).length);
  } catch {
    // Only Linux has this folder, and only while the process lives.
  }
}, SAMPLE_INTERVAL_MS);

parentPort?.once('message', async () => {
  for (const timer of timers) clearInterval(timer);
  await Promise.all(underWay);
  clearInterval(sampler);
  parentPort?.postMessage(observation);
  parentPort?.close();
});
