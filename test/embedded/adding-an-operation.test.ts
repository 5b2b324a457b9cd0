import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { copyProject } from '../support/project-copy.js';

const FOLDERS = ['.ci', '.github', 'db', 'generated', 'handlers', 'scripts', 'test'];
const DOTFILES = ['.biome.json', '.gitignore', '.npmrc', '.nvmrc'];
const FILES = ['README.md', 'openapi.yaml', 'package.json', 'package-lock.json', 'tsconfig.json'];

const guide = (await readFile('.github/CONTRIBUTING.md', 'utf8')).split('## Adding an operation\n')[1] ?? '';
/** The code blocks of the guide. */
const [pathItem = '', schema = '', handler = '', contractRule = ''] = [
  ...guide.matchAll(/^```(?:yaml|ts)\n(.*?)^```$/gms),
].map(([, code = '']) => code);

const { directory, replaceIn } = await copyProject(t, [...FOLDERS, ...DOTFILES, ...FILES]);

/** Inserts text into a file of the copy, before other text. */
const insertBefore = (file: string, anchor: string, text: string) => replaceIn(file, anchor, text + anchor);

/** Inserts text into a file of the copy, after other text. */
const insertAfter = (file: string, anchor: string, text: string) => replaceIn(file, anchor, anchor + text);

async function run(...command: string[]) {
  const { PATH, HOME } = process.env;
  const options = { cwd: directory, env: { PATH, HOME }, maxBuffer: 2 ** 26 };
  return promisify(execFile)('npm', ['run', '--silent', ...command], options).then(
    ({ stdout }) => ({ ok: true, output: stdout }),
    ({ stdout, stderr }) => ({ ok: false, output: `${stdout}${stderr}` }),
  );
}

t.test('the guide to adding an operation works as written', async (t) => {
  await insertBefore('openapi.yaml', '  /friends/requests:\n', pathItem);
  await insertAfter('openapi.yaml', '\n  schemas:\n', schema);
  const [version = '', major, minor] =
    /^ {2}version: (\d+)\.(\d+)\.\d+$/m.exec(await readFile('openapi.yaml', 'utf8')) ?? [];
  await replaceIn('openapi.yaml', version, `  version: ${major}.${Number(minor) + 1}.0`);
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
  const checked = await run('check');
  t.match(checked, { ok: true, output: /^Passed: format, lint, types, .*$/m }, checked.output);

  const listed = await run('contract-test', '--', '--list', '--only', 'friends.count.both');
  t.match(listed, { ok: true, output: /^friends\.count\.both: / });
  // The other fast tests need minutes, and do not depend on the operations of the contract.
  const tested = await run('test', '--', 'test/unit', 'test/contract*.test.ts', 'test/documents.test.ts');
  // Each failed test, with its details.
  t.same(tested.output.match(/^( *)not ok .*\n(\1 .*\n)*/gm), null);
  t.ok(tested.ok);
});
