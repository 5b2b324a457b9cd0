import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKER } from '../addresses.js';
import { type Attack, currentAccount, noErrors, p50, type Target } from '../attack.js';
import { openSocket } from '../sockets.js';

const CONNECTIONS = 5;
const ATTACK_MS = { quick: 6_000, full: 30_000 };
const LOG_MIB_MAX = 1;

const REQUEST = 'GET /auth/me HTTP/1.1\r\nHost: x\r\n\r\n';
const CHUNK = Buffer.from(REQUEST.repeat(Math.floor((64 * 1024) / REQUEST.length)));

/** A client beyond its rate limit that pipelines requests, and reconnects whenever it is disconnected. */
export const pipelinedFlood: Attack = {
  name: 'pipelined-flood',
  title: '5 connections that pipeline requests beyond their limit',
  async prepare(target) {
    const honest = await target.createAccount();
    return {
      honest: [currentAccount(honest.token)],
      async run() {
        const before = await target.service.logBytes();
        const flood = new AbortController();
        const stop = AbortSignal.any([flood.signal, target.signal]);
        let connections = 0;
        for (let count = 0; count < CONNECTIONS; count++) keepFlooding(target, stop, () => connections++);
        await sleep(target.quick ? ATTACK_MS.quick : ATTACK_MS.full);
        flood.abort();
        const own = await ownLogBytes(before, target);
        return [
          { name: 'log', value: own / 2 ** 20, atMost: LOG_MIB_MAX, unit: 'MiB' },
          { name: 'connections', value: connections },
        ];
      },
    };
  },
  evaluate: (measured) => [p50(measured, 100), noErrors(measured)],
};

function keepFlooding(target: Target, stop: AbortSignal, connected: () => void): void {
  if (stop.aborted) return;
  const socket = openSocket(target, { from: ATTACKER });
  const write = () => {
    while (socket.writable && socket.write(CHUNK));
  };
  socket.once('connect', () => {
    connected();
    write();
  });
  socket.on('drain', write);
  socket.resume();
  const end = () => socket.destroy();
  stop.addEventListener('abort', end, { once: true });
  socket.once('close', () => {
    stop.removeEventListener('abort', end);
    setImmediate(() => keepFlooding(target, stop, connected));
  });
}

/** Returns the log growth, which includes the few lines of the honest client. */
const ownLogBytes = async (before: number, { service }: Target) => (await service.logBytes()) - before;
