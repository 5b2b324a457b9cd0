import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { allRules } from '../../scripts/contract-test/run.js';
import { friends } from '../mutants/friends.js';
import { input } from '../mutants/input.js';
import type { Mutant } from '../mutants/mutant.js';
import { posts } from '../mutants/posts.js';
import { sessions } from '../mutants/sessions.js';
import { visibility } from '../mutants/visibility.js';
import { checkContract } from '../support/contract-run.js';
import { startProcess } from '../support/processes.js';
import { escapeRegExp } from '../support/regexp.js';
import { freshDataDirectory, onServices } from '../support/stores.js';

const mutants = [...visibility, ...sessions, ...friends, ...posts, ...input];

/** Always run: the rules `document.*` send no requests, but check the responses that these rules receive. */
const REQUESTING_RULES = ['auth.me.fields', 'sessions.list.current'];

/** The number of mutants that run at the same time. */
const CONCURRENCY = 2;

/** Creates a copy of the service with a mutant applied, and returns its start script. */
async function buildMutant(t: Test, { file, find, replace }: Mutant): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const directory of ['db', 'generated', 'handlers', 'scripts']) {
    const filter = (path: string) => !path.endsWith('.map');
    await cp(join('.build', directory), join(folder, '.build', directory), { recursive: true, filter });
  }
  for (const name of ['node_modules', 'package.json', 'openapi.yaml', 'generated', 'handlers']) {
    await symlink(resolve(name), join(folder, name));
  }
  const pieces = (await readFile(file, 'utf8')).split(ignoringWhiteSpace(find));
  if (pieces.length !== 2)
    throw new Error(`Expected ${file} to contain this text once, not ${pieces.length - 1} times: ${find}`);
  const { code } = await transform(pieces.join(replace), { loader: 'ts', format: 'esm', target: 'node20' });
  await writeFile(join(folder, '.build', file.replace(/ts$/, 'js')), code);
  return join(folder, '.build', 'scripts', 'start.js');
}

/** Returns a pattern for a text in which each run of white space matches any white space, or none. */
const ignoringWhiteSpace = (text: string) => new RegExp(escapeRegExp(text).replace(/\s+/g, '\\s*'));

const skip = onServices && 'npm run test:embedded runs the mutants on embedded stores';

t.jobs = CONCURRENCY;

t.test('every mutant names existing rules', async (t) => {
  const ids = new Set(allRules.map(({ id }) => id));
  t.ok(mutants.length >= 24);
  for (const { breach, caughtBy } of mutants)
    t.same(
      caughtBy.filter((id) => !ids.has(id)),
      [],
      breach,
    );
});

for (const mutant of mutants) {
  t.test(`detects that ${mutant.breach}`, { buffered: true, skip }, async (t) => {
    const entry = await buildMutant(t, mutant);
    const { url, end } = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) }, [], entry);
    const selected = new Set([...mutant.caughtBy, ...REQUESTING_RULES]);
    const { outcomes } = await checkContract(url, { selects: (id) => selected.has(id) });
    const failed = outcomes.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
    t.same(
      mutant.caughtBy.filter((id) => !failed.includes(id)),
      [],
      'every expected rule fails',
      { failed },
    );
    await end('SIGKILL');
  });
}
