import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.js';
import { ATTACKER, openSocket, rawGet, statusOf } from '../client.js';
import { memory, otherStatuses } from '../measurements.js';

const POSTS = 100;
const EMOJI_PER_POST = 10_000;
/** The number of requests whose responses are read, and of those whose responses are not. */
const REQUESTS = 100;
const PATH = '/posts/me?limit=100';
const UNREAD_MS = 5_000;

export const unreadPages: Attack = {
  title: '200 pages of 4 MB, half of them never read, with a heap of 512 MB',
  variables: { NODE_OPTIONS: '--max-old-space-size=512' },
  async run(target) {
    const { send, signal } = target;
    const { token } = target.attacker;
    const form = { title: 'T', text: '\u{1f600}'.repeat(EMOJI_PER_POST) };
    for (let count = 0; count < POSTS; count++) await send('POST', '/posts/create', { token, form });
    for (let count = 0; count < REQUESTS; count += 1) {
      const socket = openSocket(target);
      socket.pause();
      socket.write(rawGet(PATH, { Authorization: `Bearer ${token}` }));
    }
    const read = () => statusOf(send('GET', PATH, { localAddress: ATTACKER, token, signal }));
    const unreadTime = sleep(UNREAD_MS);
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, read));
    await unreadTime;
    return [otherStatuses(statuses, 200, 503)];
  },
  measurements: (observation) => [memory(observation, 1024)],
};
