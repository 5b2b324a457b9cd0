import { type Attack, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../client.js';
import { latency, memory } from '../measurements.js';

const READING_CONNECTIONS = 2;
const UNREAD_CONNECTIONS = 100;
const PIPELINED_REQUESTS = 100;
const ATTACK_MS = { quick: 5_000, full: 20_000 };

const REQUEST = rawGet('/openapi.yaml', { 'Accept-Encoding': 'br, gzip' });

/** Requests for the document, which is not rate limited; most responses are never read. */
export const documents: Attack = {
  title: '100 connections that request 100 documents each without reading them, and 2 that read continuously',
  async run(target) {
    for (let index = 0; index < READING_CONNECTIONS + UNREAD_CONNECTIONS; index += 1) {
      const socket = openSocket(target);
      if (index >= READING_CONNECTIONS) socket.pause();
      else socket.on('data', () => socket.writableLength === 0 && socket.write(REQUEST));
      socket.write(REQUEST.repeat(PIPELINED_REQUESTS));
    }
    await waitForAttack(target, ATTACK_MS);
    return [];
  },
  measurements: (observation) => [latency(observation, 'me', 0.99, 1_000), memory(observation, 768)],
};
