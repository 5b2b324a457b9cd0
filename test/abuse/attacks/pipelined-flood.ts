import { ATTACKER } from '../addresses.js';
import { type Attack, noErrors, p50, type Target, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../sockets.js';

const CONNECTIONS = 5;
const ATTACK_MS = { quick: 6_000, full: 30_000 };
/** Includes the few lines of the honest client. */
const LOG_GROWTH_MAX_MIB = 1;

const REQUEST = rawGet('/auth/me');
const CHUNK = Buffer.from(REQUEST.repeat(Math.floor((64 * 1024) / REQUEST.length)));

/** A client beyond its rate limit that pipelines requests, and reconnects whenever it is disconnected. */
export const pipelinedFlood: Attack = {
  name: 'pipelined-flood',
  title: '5 connections that pipeline requests beyond their limit',
  async run(target) {
    const { service } = target;
    const logBytesBefore = await service.logBytes();
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, target.signal]);
    let connections = 0;
    const onConnect = () => {
      connections += 1;
    };
    for (let count = 0; count < CONNECTIONS; count++) keepFlooding({ service, signal }, onConnect);
    await waitForAttack(target, ATTACK_MS);
    controller.abort();
    const logGrowthBytes = (await service.logBytes()) - logBytesBefore;
    return [
      { name: 'log', value: logGrowthBytes / 2 ** 20, atMost: LOG_GROWTH_MAX_MIB, unit: 'MiB' },
      { name: 'connections', value: connections },
    ];
  },
  evaluate: (measured) => [p50(measured, 100), noErrors(measured)],
};

/** Pipelines requests, over new connections when the service closes one, until the signal is aborted. */
function keepFlooding(target: Pick<Target, 'service' | 'signal'>, onConnect: () => void): void {
  if (target.signal.aborted) return;
  const socket = openSocket(target, { from: ATTACKER });
  const write = () => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.once('connect', () => {
    onConnect();
    write();
  });
  socket.on('drain', write);
  socket.resume();
  socket.once('close', () => setImmediate(() => keepFlooding(target, onConnect)));
}
