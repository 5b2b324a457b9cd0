import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { transform } from 'esbuild';
import pLimit from 'p-limit';
import t, { type Test } from 'tap';
import { allRules } from '../../scripts/contract-test/run.js';
import { friends } from '../mutants/friends.js';
import { input } from '../mutants/input.js';
import type { Mutant } from '../mutants/mutant.js';
import { posts } from '../mutants/posts.js';
import { sessions } from '../mutants/sessions.js';
import { sight } from '../mutants/visibility.js';
import { checkContract } from '../support/contract-run.js';
import { startProcess } from '../support/processes.js';
import { escapeRegExp } from '../support/regexp.js';
import { freshDataDirectory, onServices } from '../support/stores.js';

const mutants = [...sight, ...sessions, ...friends, ...posts, ...input];

/** Rules that request the operations that mutants of the document concern. */
const REQUESTS = ['auth.me.fields', 'sessions.list.current'];

/** The number of services that run at the same time. */
const CONCURRENCY = 2;

/** Creates a copy of the service with a mutant applied, and returns its start script. */
async function buildMutant(t: Test, { file, find, replace }: Mutant): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const part of ['db', 'generated', 'handlers', 'scripts']) {
    const filter = (path: string) => !path.endsWith('.map');
    await cp(join('.build', part), join(folder, '.build', part), { recursive: true, filter });
  }
  for (const name of ['node_modules', 'package.json', 'openapi.yaml', 'generated', 'handlers']) {
    await symlink(resolve(name), join(folder, name));
  }
  const parts = (await readFile(file, 'utf8')).split(ignoringLineBreaks(find));
  if (parts.length !== 2)
    throw new Error(`${file} must contain this text once, not ${parts.length - 1} times: ${find}`);
  const { code } = await transform(parts.join(replace), { loader: 'ts', format: 'esm', target: 'node20' });
  await writeFile(join(folder, '.build', file.replace(/ts$/, 'js')), code);
  return join(folder, '.build', 'scripts', 'start.js');
}

/** Returns a pattern for a text that ignores white space and line breaks. */
const ignoringLineBreaks = (text: string) => new RegExp(escapeRegExp(text).replace(/\s+/g, '\\s*'));

const skip = onServices && 'npm run test:embedded runs the mutants on embedded stores';

const limit = pLimit(CONCURRENCY);
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
  t.test(`caught: ${mutant.breach}`, { buffered: true, skip }, (t) =>
    limit(async () => {
      const entry = await buildMutant(t, mutant);
      const { url, end } = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) }, [], entry);
      // The document is checked against the responses to the requests of other rules.
      const selected = new Set([...mutant.caughtBy, ...REQUESTS]);
      const { outcomes } = await checkContract(url, { selects: (id) => selected.has(id) });
      const broken = outcomes.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
      t.same(
        mutant.caughtBy.filter((id) => !broken.includes(id)),
        [],
        'rules that fail',
        { broken },
      );
      await end('SIGKILL');
    }),
  );
}
