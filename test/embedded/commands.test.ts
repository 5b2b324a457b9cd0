import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import t from 'tap';
import { ONE_LINE, runCommand } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** The names of the commands, with the paths of their sources below `scripts`. */
const commands = Object.entries(scripts).flatMap(([name, line]) => {
  const [, path] = /\bscripts\/([\w/-]+)\.[jt]s$/.exec(line) ?? [];
  return path === undefined ? [] : [[name, path] as const];
});

const CONCURRENT_COMMANDS = 3;

t.test('every command refuses a wrong option, and prints its usage, description and options', async (t) => {
  t.ok(commands.length > 15);
  await pLimit(CONCURRENT_COMMANDS).map(commands, async ([name, path]) => {
    const { code, output } = await runCommand(t, [path, '--no-such-option'], {});
    t.equal(code, 2, name);
    const usage = name === 'contract-test' ? name : `npm run ${name} --`;
    const help = `\nUsage: ${usage} [a-z\\[\\]<> ]+\n\n[A-Z](?:[^.]|\\.\\S)+\\.\n\n[^]*^ {2}--env-file <file> `;
    t.match(output, new RegExp(`^error: .*option.*\n${help}`, 'm'), name);
  });
});

t.test('commands that need the packages for development say so if these are not installed', async (t) => {
  for (const name of ['dev', 'generate', 'check', 'test'])
    t.match(scripts[name], /^npm run --silent require-dev && /, name);
  const check = (cwd: string) => spawnSync('sh', ['-c', scripts['require-dev'] ?? ''], { cwd, encoding: 'utf8' });
  t.match(check('.'), { status: 0, stderr: '' });
  t.match(check(await temporaryDirectory(t)), { status: 1, stderr: ONE_LINE });
});

t.test('--help, --version and surplus arguments do not run a command', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'data');
  t.match(await runCommand(t, ['start', '--help'], { DATA_DIR }), { code: 0, output: /^Usage: npm run start -- / });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { output } = await runCommand(t, ['start', '--version'], { DATA_DIR });
  t.match(output, new RegExp(`^${version} \\(commit ([0-9a-f]{40}|unknown)\\)\n$`));
  t.match(await runCommand(t, ['migrate', 'now'], { DATA_DIR }), { code: 2, output: /^error: too many arguments/ });
  t.notOk(existsSync(DATA_DIR));
});

t.test('--env-file adds the variables of a file to the environment', async (t) => {
  const file = join(await temporaryDirectory(t), 'variables.env');
  await writeFile(file, 'PORT=from-file\nOPS_PORT=from-file\n');
  const { code, output } = await runCommand(t, ['migrate', '--env-file', file], { OPS_PORT: 'from-environment' });
  t.equal(code, 1);
  t.match(output, /^PORT: "from-file" .*; OPS_PORT: "from-environment" [^\n]*\n$/);

  for (const [path, problem] of [
    ['missing.env', 'does not exist'],
    ['scripts', 'cannot be read'],
  ] as const) {
    const refused = { code: 2, output: `--env-file: ${path} ${problem}\n` };
    t.same(await runCommand(t, ['verify/index', '--env-file', path], {}), refused);
  }
});

t.test('Node does not read the options of a command', async (t) => {
  for (const [name] of commands) t.notMatch(scripts[name], /\bnode (?!.* -- )/, name);
});

t.test('a command names misspelled variables once, also those of a file', async (t) => {
  const file = join(await temporaryDirectory(t), 'variables.env');
  await writeFile(file, 'DATABSE_URL=postgres://user:hush@host/database\n');
  const { output } = await runCommand(t, ['verify/index', '--env-file', file], { DATA_DIR: '/nowhere', TOKENTTL: '1' });
  t.equal(
    output,
    `TOKENTTL is not a variable of this service. Did you mean TOKEN_TTL?
DATABSE_URL is not a variable of this service. Did you mean DATABASE_URL?
/nowhere does not contain a database
`,
  );
});
