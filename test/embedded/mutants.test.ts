import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { friends } from '../mutants/friends.js';
import { input } from '../mutants/input.js';
import type { Mutant } from '../mutants/mutant.js';
import { posts } from '../mutants/posts.js';
import { sessions } from '../mutants/sessions.js';
import { visibility } from '../mutants/visibility.js';
import { checkContract } from '../support/contract-run.js';
import { startProcess } from '../support/processes.js';
import { escapeRegExp } from '../support/regexp.js';
import { freshDataDirectory, onServices, temporaryDirectory } from '../support/stores.js';

/** Mutants by subject. Those of different subjects break different rules, so a service can have one of each. */
const subjects = [visibility, sessions, friends, posts, input].map((mutants) => Object.entries(mutants));

/** Always run: the rules `document.*` send no requests, but check the responses that these rules receive. */
const REQUESTING_RULES = ['auth.me.fields', 'sessions.list.current'];

/** Creates a copy of the service with mutants applied, and returns its start script. */
async function buildMutants(t: Test, mutants: readonly Mutant[]): Promise<string> {
  const folder = await temporaryDirectory(t);
  for (const directory of ['db', 'generated', 'handlers', 'scripts']) {
    const filter = (path: string) => !path.endsWith('.map');
    await cp(join('.build', directory), join(folder, '.build', directory), { recursive: true, filter });
  }
  for (const name of ['node_modules', 'package.json', 'openapi.yaml', 'generated', 'handlers']) {
    await symlink(resolve(name), join(folder, name));
  }
  const sources = new Map<string, string>();
  for (const { file, find, replace } of mutants) {
    const pieces = (sources.get(file) ?? (await readFile(file, 'utf8'))).split(ignoringWhiteSpace(find));
    if (pieces.length !== 2)
      throw new Error(`Expected ${file} to contain this text once, not ${pieces.length - 1} times: ${find}`);
    sources.set(file, pieces.join(replace));
  }
  for (const [file, source] of sources) {
    const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20' });
    await writeFile(join(folder, '.build', file.replace(/ts$/, 'js')), code);
  }
  return join(folder, '.build', 'scripts', 'start.js');
}

/** Returns a pattern for a text in which each run of white space matches any white space, or none. */
const ignoringWhiteSpace = (text: string) => new RegExp(escapeRegExp(text).replace(/\s+/g, '\\s*'));

const skip = onServices && 'npm run test:embedded runs the mutants on embedded stores';

for (let index = 0; subjects.some((subject) => index < subject.length); index += 1) {
  const group = subjects.flatMap((subject) => subject.slice(index, index + 1));
  const mutants = group.map(([, mutant]) => mutant);
  t.test(`detects mutant ${index + 1} of each subject`, { skip }, async (t) => {
    const { url, end } = await startProcess(
      t,
      { DATA_DIR: await freshDataDirectory(t) },
      [],
      await buildMutants(t, mutants),
    );
    const selected = new Set([...mutants.flatMap(({ caughtBy }) => caughtBy), ...REQUESTING_RULES]);
    const { outcomes } = await checkContract(url, { selects: (id) => selected.has(id) });
    const failed = outcomes.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
    for (const [breach, { caughtBy }] of group) {
      const missed = caughtBy.filter((id) => !failed.includes(id));
      t.same(missed, [], `every expected rule detects that ${breach}`, { failed });
    }
    await end('SIGKILL');
  });
}
