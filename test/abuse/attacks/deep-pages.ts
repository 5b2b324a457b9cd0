import { runCommand } from '../../support/processes.js';
import { ATTACKER } from '../addresses.js';
import { type Attack, countStatus, loopDelay, noErrors, otherStatuses, p99 } from '../attack.js';
import { statusOf } from '../client.js';

const PAGES = 40;
const POSTS = { quick: 30_000, full: 300_000 };

/** Pages so deep that the database has to read all posts. */
export const deepPages: Attack = {
  name: 'deep-pages',
  title: '40 concurrent pages with an offset beyond the last post',
  async fill(lifetime, environment, quick) {
    const posts = quick ? POSTS.quick : POSTS.full;
    const options = ['--accounts', '200', '--posts', String(posts), '--private', '20'];
    const { code, output } = await runCommand(lifetime, ['seed/index', ...options], environment);
    if (code !== 0) throw new Error(`Seeding exited with ${code}: ${output.slice(-500)}`);
  },
  async run(target, { attacker }) {
    const readPage = () =>
      statusOf(
        target.send('GET', '/posts?offset=2147483647', {
          from: ATTACKER,
          token: attacker.token,
          signal: target.signal,
        }),
      );
    const statuses = await Promise.all(Array.from({ length: PAGES }, readPage));
    return [otherStatuses(statuses, 200, 503), countStatus(statuses, 503)];
  },
  // The bound is looser in a short run, which may share its cores. A query on the main thread would take seconds.
  evaluate: (measured, quick) => [p99(measured, 250), loopDelay(measured, quick ? 200 : 50), noErrors(measured)],
};
