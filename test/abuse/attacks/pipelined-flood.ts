import { type Attack, type Target, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../client.js';
import { latency } from '../measurements.js';

const CONNECTIONS = 5;
const ATTACK_MS = { quick: 6_000, full: 30_000 };
/** Includes the few lines of the honest client. */
const LOG_GROWTH_MAX_MIB = 1;

const REQUEST = rawGet('/auth/me');
const CHUNK = Buffer.from(REQUEST.repeat(Math.floor((64 * 1024) / REQUEST.length)));

/** A client beyond its rate limit that pipelines requests, and reconnects whenever it is disconnected. */
export const pipelinedFlood: Attack = {
  title: '5 connections that pipeline requests beyond their limit',
  async run(target) {
    const { service } = target;
    const logBefore = await service.log();
    for (let count = 0; count < CONNECTIONS; count += 1) keepFlooding(target);
    await waitForAttack(target, ATTACK_MS);
    const logGrowthMiB = ((await service.log()).length - logBefore.length) / 2 ** 20;
    return [{ name: 'log growth', value: logGrowthMiB, atMost: LOG_GROWTH_MAX_MIB, unit: 'MiB' }];
  },
  measurements: (observation) => [latency(observation, 'me', 0.5, 300)],
};

/** Pipelines requests, over new connections when the service closes one, until the signal is aborted. */
function keepFlooding(target: Target): void {
  if (target.signal.aborted) return;
  const socket = openSocket(target);
  const write = () => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.once('connect', write);
  socket.on('drain', write);
  socket.resume();
  socket.once('close', () => setImmediate(() => keepFlooding(target)));
}
