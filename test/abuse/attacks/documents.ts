import { ATTACKER } from '../addresses.js';
import { type Attack, memory, noErrors, p99, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../sockets.js';

const READING_CONNECTIONS = 2;
const UNREAD_CONNECTIONS = 100;
const PIPELINED_REQUESTS = 100;
const ATTACK_MS = { quick: 5_000, full: 20_000 };
/** The maximum compressed size, as a share of the original. */
const MAX_COMPRESSED_SHARE = 0.25;

const COMPRESSION = { 'Accept-Encoding': 'br, gzip' };
const REQUEST = rawGet('/openapi.yaml', COMPRESSION);

/** Requests for the document, which is not rate limited; most responses are never read. */
export const documents: Attack = {
  name: 'documents',
  title: '100 connections that pipeline 100 documents each without reading, and 2 that read continuously',
  async run(target) {
    const original = await target.send('GET', '/openapi.yaml');
    const compressed = await target.send('GET', '/openapi.yaml', { headers: COMPRESSION });
    let bytesRead = 0;
    const reading = Array.from({ length: READING_CONNECTIONS }, () => {
      const socket = openSocket(target, { from: ATTACKER });
      socket.on('data', (chunk) => {
        bytesRead += chunk.length;
        if (socket.writableLength === 0) socket.write(REQUEST);
      });
      socket.write(REQUEST.repeat(PIPELINED_REQUESTS));
      return socket;
    });
    const unread = Array.from({ length: UNREAD_CONNECTIONS }, () => {
      const socket = openSocket(target, { from: ATTACKER });
      socket.pause();
      socket.write(REQUEST.repeat(PIPELINED_REQUESTS));
      return socket;
    });
    await waitForAttack(target, ATTACK_MS);
    for (const socket of [...reading, ...unread]) socket.destroy();
    return [
      {
        name: 'compressed size',
        value: (100 * compressed.bytes.length) / original.bytes.length,
        atMost: 100 * MAX_COMPRESSED_SHARE,
        unit: '%',
      },
      { name: 'read', value: bytesRead / 2 ** 20, unit: 'MiB' },
    ];
  },
  evaluate: (measured) => [p99(measured, 1000), memory(measured, 768), noErrors(measured)],
};
