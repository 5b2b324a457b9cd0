import { type Attack, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../client.js';
import { latency } from '../measurements.js';
import { currentAccount } from '../observe.js';

const SOCKETS = 1_500;
const OPEN_FILES_MAX = 1_024;
const ATTACK_MS = { quick: 5_000, full: 20_000 };
/** Sent by every third connection. The empty line at the end is missing. */
const INCOMPLETE_HEAD = rawGet('/auth/me').slice(0, -'\r\n'.length);

/** More connections than the service's limit of open files. */
export const idleSockets: Attack = {
  title: '1,500 idle connections to a service that may open 1,024 files',
  openFilesMax: OPEN_FILES_MAX,
  // New connections, since the attack does not affect existing ones.
  honestRequests: ({ honest }) => [currentAccount(honest, { agent: false })],
  async run(target) {
    for (let index = 0; index < SOCKETS; index += 1) {
      const socket = openSocket(target);
      socket.resume();
      if (index % 3 === 0) socket.write(INCOMPLETE_HEAD);
    }
    await waitForAttack(target, ATTACK_MS);
    return [];
  },
  measurements: (observation) => [latency(observation, 'me', 0.99, 1_000)],
};
