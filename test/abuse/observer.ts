import { parentPort, workerData } from 'node:worker_threads';
import { rotateAddresses, send } from './client.js';
import type { HonestRequest, Observation, ObserverJob } from './observe.js';

/*
 * The honest client. It runs in a worker thread, so that the attacker does not delay its timers. It is an open-loop load
 * generator: requests start at fixed times, so that a stalled service delays all of them, not only one.
 */

const { url, requests } = workerData as ObserverJob;
const observation: Pick<Observation, 'latencies' | 'errors'> = { latencies: {}, errors: [] };
const sent: Promise<void>[] = [];

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
  return setInterval(() => sent.push(sendHonestRequest(honest, nextAddress())), honest.everyMs);
});

parentPort?.once('message', async () => {
  for (const timer of timers) clearInterval(timer);
  await Promise.all(sent);
  parentPort?.postMessage(observation);
  parentPort?.close();
});
