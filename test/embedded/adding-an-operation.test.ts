import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { startProcess } from '../support/processes.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';

const FOLDERS = ['db', 'generated', 'handlers', 'scripts', 'test'];
const FILES = ['openapi.yaml', 'package.json', 'package-lock.json', 'tsconfig.json'];

const guide = (await readFile('.github/CONTRIBUTING.md', 'utf8')).split('## Adding an operation\n')[1] ?? '';
/** The code blocks of the guide: path and schema of the contract, handler, and rule. */
const [path = '', schema = '', handler = '', contractRule = ''] = [
  ...guide.matchAll(/^```(?:yaml|ts)\n(.*?)^```$/gms),
].map(([, code = '']) => code);

const copy = await temporaryDirectory(t);
for (const name of [...FOLDERS, ...FILES]) await cp(name, join(copy, name), { recursive: true });
await symlink(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));

/** Inserts text into a file of the copy, before or after other text. */
async function insert(file: string, where: { before: string } | { after: string }, text: string): Promise<void> {
  const source = await readFile(join(copy, file), 'utf8');
  const anchor = 'before' in where ? where.before : where.after;
  if (!source.includes(anchor)) throw new Error(`${file} does not contain ${anchor}`);
  const changed = source.replace(anchor, () => ('before' in where ? text + anchor : anchor + text));
  await writeFile(join(copy, file), changed);
}

/** Runs an npm script in the copy. */
async function run(...command: string[]) {
  const { PATH, HOME } = process.env;
  return promisify(execFile)('npm', ['run', '--silent', ...command], { cwd: copy, env: { PATH, HOME } }).then(
    ({ stdout }) => ({ ok: true, output: stdout }),
    ({ stdout, stderr }) => ({ ok: false, output: `${stdout}${stderr}` }),
  );
}

t.test('the guide works as written', async (t) => {
  await insert('openapi.yaml', { before: '  /friends/requests:\n' }, path);
  await insert('openapi.yaml', { after: '\n  schemas:\n' }, schema);
  t.match(await run('generate'), { ok: true });
  const { output } = await run('types');
  t.match(output, 'handlers/friends.ts', 'the missing handler is a type error');

  await insert('handlers/friends.ts', { before: '  async listFriends' }, `${handler}\n`);
  const rules = 'scripts/contract-test/rules/friends/friendships.ts';
  await insert(rules, { after: 'export const friendshipRules: Rule[] = [\n' }, contractRule);
  t.same(await run('types'), { ok: true, output: '' });
  t.match(await run('lint:contract'), { ok: true });

  await run('build');
  const entry = join(copy, '.build', 'scripts', 'start.js');
  const { url } = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) }, [], entry);
  const only = ['friends.count.both', '*.countFriends'].flatMap((pattern) => ['--only', pattern]);
  const checked = await run('contract-test', '--', '--base-url', url, ...only);
  t.match(checked, { ok: true, output: /^\d+ passed; /m }, checked.output);
});
