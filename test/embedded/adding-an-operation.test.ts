import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startProcess } from '../support/processes.js';
import { copyProject } from '../support/project-copy.js';
import { freshDataDirectory } from '../support/stores.js';

const FOLDERS = ['db', 'generated', 'handlers', 'scripts', 'test'];
const FILES = ['openapi.yaml', 'package.json', 'package-lock.json', 'tsconfig.json'];

const guide = (await readFile('.github/CONTRIBUTING.md', 'utf8')).split('## Adding an operation\n')[1] ?? '';
/** The code blocks of the guide. */
const [pathItem = '', schema = '', handler = '', contractRule = ''] = [
  ...guide.matchAll(/^```(?:yaml|ts)\n(.*?)^```$/gms),
].map(([, code = '']) => code);

const { directory, replaceIn } = await copyProject(t, [...FOLDERS, ...FILES]);

/** Inserts text into a file of the copy, before other text. */
const insertBefore = (file: string, anchor: string, text: string) => replaceIn(file, anchor, text + anchor);

/** Inserts text into a file of the copy, after other text. */
const insertAfter = (file: string, anchor: string, text: string) => replaceIn(file, anchor, anchor + text);

async function run(...command: string[]) {
  const { PATH, HOME } = process.env;
  return promisify(execFile)('npm', ['run', '--silent', ...command], { cwd: directory, env: { PATH, HOME } }).then(
    ({ stdout }) => ({ ok: true, output: stdout }),
    ({ stdout, stderr }) => ({ ok: false, output: `${stdout}${stderr}` }),
  );
}

t.test('the guide to adding an operation works as written', async (t) => {
  await insertBefore('openapi.yaml', '  /friends/requests:\n', pathItem);
  await insertAfter('openapi.yaml', '\n  schemas:\n', schema);
  for (const [valid, mistake, line] of [
    ['schemas/FriendCount', 'schemas/Missing', /^\$ref: #\/components\/schemas\/Missing does not exist .*\n$/],
    ['openapi: 3.1.1', 'openapi: 3.1.1: x', /^openapi\.yaml: .+ at line 1, column \d+\n$/],
  ] as const) {
    await replaceIn('openapi.yaml', valid, mistake);
    t.match(await run('generate'), { ok: false, output: line });
    await replaceIn('openapi.yaml', mistake, valid);
  }
  t.match(await run('generate'), { ok: true });
  const { output } = await run('types');
  t.match(output, 'handlers/friends.ts', 'the missing handler is a type error');

  await insertBefore('handlers/friends.ts', '  async listFriends', `${handler}\n`);
  const rules = 'scripts/contract-test/rules/friends/friendships.ts';
  await insertAfter(rules, 'export const friendshipRules: Rule[] = [\n', contractRule);
  t.same(await run('types'), { ok: true, output: '' });
  t.match(await run('lint:contract'), { ok: true });

  await run('build');
  const entry = join(directory, '.build', 'scripts', 'start.js');
  const { url } = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) }, [], entry);
  const only = ['friends.count.both', '*.countFriends'].flatMap((pattern) => ['--only', pattern]);
  const checked = await run('contract-test', '--', '--base-url', url, ...only);
  t.match(checked, { ok: true, output: /^\d+ passed; /m }, checked.output);
});
