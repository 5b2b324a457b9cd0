import { runCommand } from '../../support/processes.js';
import type { Attack } from '../attack.js';
import { ATTACKER, statusOf } from '../client.js';
import { latency, loopDelay, otherStatuses } from '../measurements.js';

const PAGES = 40;
const POSTS = { quick: 30_000, full: 300_000 };

/** Pages so deep that the database has to read all posts. */
export const deepPages: Attack = {
  title: '40 concurrent pages with an offset beyond the last post',
  async fill(t, environment, quick) {
    const posts = quick ? POSTS.quick : POSTS.full;
    const options = ['--accounts', '200', '--posts', String(posts), '--private', '20'];
    const { code, output } = await runCommand(t, ['seed/index', ...options], environment);
    if (code !== 0) throw new Error(`Seeding exited with ${code}: ${output.slice(-500)}`);
  },
  async run({ attacker: { token }, send, signal }) {
    const readPage = () => send('GET', '/posts?offset=2147483647', { localAddress: ATTACKER, token, signal });
    const statuses = await Promise.all(Array.from({ length: PAGES }, () => statusOf(readPage())));
    return [otherStatuses(statuses, 200, 503)];
  },
  measurements: (observation, { quick }) => [
    latency(observation, 'me', 0.5, 50),
    latency(observation, 'me', 0.99, 250),
    // The limit is higher in a short run, whose cores other processes may use. A query on the main thread would take seconds.
    loopDelay(observation, quick ? 200 : 50),
  ],
};
