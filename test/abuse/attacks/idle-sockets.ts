import { ATTACKER } from '../addresses.js';
import { type Attack, currentAccount, noErrors, p99, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../sockets.js';

const SOCKETS = 1_500;
const OPEN_FILES_MAX = 1_024;
const ATTACK_MS = { quick: 5_000, full: 20_000 };
/** Sent by every third connection. The final line is missing. */
const INCOMPLETE_HEAD = rawGet('/auth/me').slice(0, -'\r\n'.length);

/** More connections than the service's limit of open files. */
export const idleSockets: Attack = {
  name: 'idle-sockets',
  title: '1,500 idle connections to a service that may open 1,024 files',
  start: { openFilesMax: OPEN_FILES_MAX },
  async prepare(target, { honest }) {
    return {
      // New connections, since the attack does not affect existing ones.
      honestRequests: [{ ...currentAccount(honest.token), options: { token: honest.token, newConnection: true } }],
      async run() {
        const sockets = Array.from({ length: SOCKETS }, (_, index) => {
          const socket = openSocket(target, { from: ATTACKER });
          socket.resume();
          if (index % 3 === 0) socket.write(INCOMPLETE_HEAD);
          return socket;
        });
        await waitForAttack(target, ATTACK_MS);
        const openCount = sockets.filter((socket) => !socket.destroyed).length;
        for (const socket of sockets) socket.destroy();
        return [{ name: 'still open', value: openCount }];
      },
    };
  },
  evaluate: (measured) => [p99(measured, 1_000), noErrors(measured)],
};
