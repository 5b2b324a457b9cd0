import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import t, { type Test } from 'tap';
import { ruleNames } from '../scripts/contract-test/run.js';
import { checkContract } from './contract-run.js';
import { friends } from './mutants/friends.js';
import { input } from './mutants/input.js';
import type { Mutant } from './mutants/mutant.js';
import { posts } from './mutants/posts.js';
import { sessions } from './mutants/sessions.js';
import { sight } from './mutants/sight.js';
import { listening, spawnService } from './processes.js';
import { freshDataDirectory, onServices } from './stores.js';

const mutants = [...sight, ...sessions, ...friends, ...posts, ...input];

/** How many services run at a time. */
const AT_ONCE = 2;

/** A copy of the service, with this breach in it, that can be started from anywhere. */
async function breached(t: Test, { file, find, replace }: Mutant): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const part of ['db', 'generated', 'handlers', 'scripts']) {
    const filter = (path: string) => !path.endsWith('.map');
    await cp(join('.build', part), join(folder, '.build', part), { recursive: true, filter });
  }
  for (const name of ['node_modules', 'package.json', 'openapi.yaml', 'generated']) {
    await symlink(resolve(name), join(folder, name));
  }
  const path = join(folder, '.build', file);
  const parts = (await readFile(path, 'utf8')).split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} places, not one, that read: ${find}`);
  await writeFile(path, parts.join(replace));
  return join(folder, '.build', 'scripts', 'start.js');
}

const skip = onServices && 'breaches show on embedded stores alike, where npm test looks for them';

const turn = pLimit(AT_ONCE);
t.jobs = AT_ONCE;

t.test('there are mutants of every kind, and each names rules that exist', async (t) => {
  const names = ruleNames();
  t.ok(mutants.length >= 24);
  for (const { breach, caughtBy } of mutants) {
    for (const beginning of caughtBy) {
      t.ok(
        names.some((name) => name.startsWith(beginning)),
        `${breach}: ${beginning}`,
      );
    }
  }
});

for (const mutant of mutants) {
  t.test(`caught: ${mutant.breach}`, { buffered: true, skip }, (t) =>
    turn(async () => {
      const entry = await breached(t, mutant);
      const lifted = { RATE_LIMIT_MAX: '1000000', RATE_LIMIT_STRICT_MAX: '1000000' };
      const environment = { ...lifted, DATA_DIR: await freshDataDirectory(t) };
      const { url, end } = await listening(spawnService(t, environment, [], entry));
      const isMeant = (name: string) => mutant.caughtBy.some((beginning) => name.startsWith(beginning));
      // What the document declares is judged by whatever else is asked for.
      const byTheWay = mutant.caughtBy.every((name) => name.startsWith('openapi.yaml'));
      const { outcomes } = await checkContract(url, {
        selects: (name) => isMeant(name) || (byTheWay && name.startsWith('Accounts and sessions, GET')),
      });
      const broken = outcomes.filter(({ verdict }) => verdict === 'broken').map(({ rule }) => rule);
      for (const beginning of mutant.caughtBy) {
        t.ok(
          broken.some((name) => name.startsWith(beginning)),
          beginning,
          { broken },
        );
      }
      await end('SIGKILL');
    }),
  );
}
