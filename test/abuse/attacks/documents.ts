import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKER } from '../addresses.js';
import { type Attack, currentAccount, memory, noErrors, p99 } from '../attack.js';
import { openSocket } from '../sockets.js';

const READING = 2;
const UNREAD = 100;
const PIPELINED = 100;
const ATTACK_MS = { quick: 5_000, full: 20_000 };
/** The maximum compressed size, as a share of the original. */
const MAX_COMPRESSED_SHARE = 0.25;

const REQUEST = 'GET /openapi.yaml HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip\r\n\r\n';

/** Requests for the document, which is not rate limited; most responses are never read. */
export const documents: Attack = {
  name: 'documents',
  title: '100 connections that pipeline 100 documents each without reading, and 2 that read continuously',
  async prepare(target) {
    const honest = await target.createAccount();
    return {
      honest: [currentAccount(honest.token)],
      async run() {
        const whole = await target.send('GET', '/openapi.yaml');
        const compressed = await target.send('GET', '/openapi.yaml', { headers: { 'Accept-Encoding': 'br, gzip' } });
        let bytesRead = 0;
        const reading = Array.from({ length: READING }, () => {
          const socket = openSocket(target, { from: ATTACKER });
          socket.on('data', (chunk) => {
            bytesRead += chunk.length;
            if (socket.writableLength === 0) socket.write(REQUEST);
          });
          socket.write(REQUEST.repeat(PIPELINED));
          return socket;
        });
        const unread = Array.from({ length: UNREAD }, () => {
          const socket = openSocket(target, { from: ATTACKER });
          socket.pause();
          socket.write(REQUEST.repeat(PIPELINED));
          return socket;
        });
        await sleep(target.quick ? ATTACK_MS.quick : ATTACK_MS.full);
        for (const socket of [...reading, ...unread]) socket.destroy();
        return [
          {
            name: 'compressed size',
            value: (100 * compressed.bytes.length) / whole.bytes.length,
            atMost: 100 * MAX_COMPRESSED_SHARE,
            unit: '%',
          },
          { name: 'read', value: bytesRead / 2 ** 20, unit: 'MiB' },
        ];
      },
    };
  },
  evaluate: (measured) => [p99(measured, 1000), memory(measured, 768), noErrors(measured)],
};
