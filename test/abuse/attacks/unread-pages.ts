import { ATTACKER } from '../addresses.js';
import { type Attack, currentAccount, memory, noErrors } from '../attack.js';
import { statusOf } from '../client.js';
import { openSocket } from '../sockets.js';

const POSTS = 100;
const EMOJI = 10_000;
/** Of each kind: those whose responses are read, and those whose responses are not. */
const REQUESTS = 100;
const UNREAD_MS = 5_000;

/** Pages of 4 MB each, half of them never read. */
export const unreadPages: Attack = {
  name: 'unread-pages',
  title: '200 pages of 4 MB, half of them never read, with a heap of 512 MB',
  start: { nodeArguments: ['--max-old-space-size=512'] },
  async prepare(target) {
    const honest = await target.createAccount();
    const { token } = await target.createAccount();
    const form = { title: 'T', text: '\u{1f600}'.repeat(EMOJI) };
    for (let count = 0; count < POSTS; count++) await target.send('POST', '/posts/create', { token, form });
    return {
      honest: [currentAccount(honest.token)],
      async run() {
        const { signal } = target;
        const unread = Array.from({ length: REQUESTS }, () => {
          const socket = openSocket(target, { from: ATTACKER });
          socket.pause();
          socket.write(`GET /posts/me?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
          return socket;
        });
        const read = () => statusOf(target.send('GET', '/posts/me?limit=100', { from: ATTACKER, token, signal }));
        const until = new Promise((resolve) => setTimeout(resolve, UNREAD_MS));
        const statuses = await Promise.all(Array.from({ length: REQUESTS }, read));
        await until;
        for (const socket of unread) socket.destroy();
        return [
          {
            name: 'no response',
            value: statuses.filter((status) => status !== 200 && status !== 503).length,
            atMost: 0,
          },
          { name: '503', value: statuses.filter((status) => status === 503).length },
        ];
      },
    };
  },
  evaluate: (measured) => [memory(measured, 1024), noErrors(measured)],
};
