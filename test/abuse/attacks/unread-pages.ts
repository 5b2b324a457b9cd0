import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKER } from '../addresses.js';
import { type Attack, countStatus, memory, noErrors, otherStatuses } from '../attack.js';
import { statusOf } from '../client.js';
import { openSocket, rawGet } from '../sockets.js';

const POSTS = 100;
const EMOJI_PER_POST = 10_000;
/** The number of requests whose responses are read, and of those whose responses are not. */
const REQUESTS = 100;
const PATH = '/posts/me?limit=100';
const UNREAD_MS = 5_000;

/** Pages of 4 MB each, half of them never read. */
export const unreadPages: Attack = {
  name: 'unread-pages',
  title: '200 pages of 4 MB, half of them never read, with a heap of 512 MB',
  start: { nodeArguments: ['--max-old-space-size=512'] },
  async prepare(target, { attacker: { token } }) {
    const form = { title: 'T', text: '\u{1f600}'.repeat(EMOJI_PER_POST) };
    for (let count = 0; count < POSTS; count++) await target.send('POST', '/posts/create', { token, form });
    return {
      async run() {
        const { signal } = target;
        const unread = Array.from({ length: REQUESTS }, () => {
          const socket = openSocket(target, { from: ATTACKER });
          socket.pause();
          socket.write(rawGet(PATH, { Authorization: `Bearer ${token}` }));
          return socket;
        });
        const read = () => statusOf(target.send('GET', PATH, { from: ATTACKER, token, signal }));
        const unreadTime = sleep(UNREAD_MS);
        const statuses = await Promise.all(Array.from({ length: REQUESTS }, read));
        await unreadTime;
        for (const socket of unread) socket.destroy();
        return [otherStatuses(statuses, 200, 503), countStatus(statuses, 503)];
      },
    };
  },
  evaluate: (measured) => [memory(measured, 1024), noErrors(measured)],
};
