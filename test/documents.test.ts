import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import t from 'tap';
import { readConfig, VARIABLE_NAMES } from '../handlers/config/index.js';
import { script } from './support/processes.js';
import { escapeRegExp } from './support/regexp.js';
import { startTestService } from './support/service.js';
import { temporaryDirectory } from './support/stores.js';

const [README, OPERATING, CONTRIBUTING] = ['README.md', '.github/OPERATING.md', '.github/CONTRIBUTING.md'] as const;
const documents = new Map(
  [
    ...[
      README,
      OPERATING,
      CONTRIBUTING,
      'test/clients/README.md',
      '.github/RUNBOOK.md',
      '.github/SECURITY.md',
      'db/README.md',
    ],
    ...['contract-test', 'services', 'bench', 'versions', 'deploy'].map((folder) => `scripts/${folder}/README.md`),
  ].map((path) => [path, readFileSync(path, 'utf8')]),
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

function readSection(path: string, title: string): string {
  const sections = documents.get(path)?.split(/^##? /m) ?? [];
  const section = sections.find((text) => text.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`${path} has no section “${title}”`);
  return section;
}

const fencedBlocks = (text: string) => [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, content = '']) => content);

/** Returns a pattern for a documented output, in which `…` matches any text within a line and an id any id. */
const asDocumented = (documented: string) =>
  new RegExp(
    `^${escapeRegExp(documented)
      .replaceAll('…', '.*')
      .replace(/id":\d+/g, 'id":\\d+')}$`,
  );

t.test('the tour with curl runs as written and prints the documented output', async (t) => {
  const service = await startTestService(t);
  const [commands = '', printed = ''] = fencedBlocks(readSection(README, 'A tour with curl'));
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-e', '-o', 'pipefail', '-c', commands], {
    cwd: await temporaryDirectory(t),
    env: { PATH: process.env.PATH, BASE: service.url },
  });
  t.match(stdout, asDocumented(printed));
  t.equal(stderr, '');
  const { host, port } = readConfig({});
  t.match(commands, `BASE=\${BASE:-http://${host}:${port}}\n`, 'the default address is that of the service');
});

t.test('the configuration table lists exactly the variables that are read, with their defaults', async (t) => {
  const text = readSection(OPERATING, 'Configuration');
  const rows = [...text.matchAll(/^\| `([A-Z0-9_]+)` \| (.+?) \|/gm)];
  const names = rows.map(([, name = '']) => name);
  t.same([...names].sort(), [...VARIABLE_NAMES].sort());
  for (const [, name = '', value = ''] of rows) {
    const [, stated] = /^`(.+)`$/.exec(value) ?? [];
    if (stated !== undefined) t.same(readConfig({ [name]: stated }), readConfig({}), name);
  }
});

t.test('every documented npm command exists', async (t) => {
  for (const [path, text] of documents) {
    const named = [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?([a-z][\w:-]*)|(start|test)\b)/g)];
    for (const name of new Set(named.map(([, run, short]) => run ?? short ?? '')))
      t.ok(scripts[name], `${path}: ${name}`);
  }
});

t.test('every documented command of `npm run admin` can be parsed', async (t) => {
  const rows = readSection(OPERATING, 'Accounts and posts').matchAll(/^\| (`.+?`) \|/gm);
  const inTable = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  const inText = [...documents.values()].flatMap((text) => [
    ...text.matchAll(/(?:npm run (?:-s |--silent )?admin --|scripts\/admin\.js) ([a-z][^`\n]*)/g),
    // The runbook defines a function.
    ...text.matchAll(/(?:^ *|; do |`)admin ((?:accounts|posts|log)\b[^`\n;]*)/gm),
  ]);
  const commands = new Set([...inTable, ...inText].map(([, words = '']) => words.trim()));
  t.ok(commands.size > 30, `${commands.size} commands`);

  const directory = await temporaryDirectory(t);
  const env = { PATH: process.env.PATH, DATA_DIR: join(directory, 'none'), id: '1', i: '1' };
  const limit = pLimit(2);
  const failures = [...commands].map((words) =>
    limit(async () => {
      const run = promisify(execFile)('bash', ['-c', `node ${resolve(script('admin'))} ${words} --yes`], {
        cwd: directory,
        env,
      });
      await t.rejects(run, { code: 1, stderr: `${env.DATA_DIR} does not contain a database\n` }, words);
    }),
  );
  await Promise.all(failures);
});

t.test('the image contains the commands for operators, and its documentation says what to type', async (t) => {
  const section = readSection('scripts/deploy/README.md', 'Image');
  const containerfile = readFileSync('scripts/deploy/Containerfile', 'utf8');
  const named = [...readSection(README, 'Commands').matchAll(/`npm run ([a-z-]+)`/g)].map(([, name = '']) => name);
  // These two act on a deployment from outside, or on a new one.
  const commands = named.filter((name) => name !== 'contract-test' && name !== 'seed');
  t.ok(commands.length > 6);
  for (const name of commands) {
    const [path = ''] = /scripts\/\S+\.js$/.exec(scripts[name] ?? '') ?? [];
    const folder = dirname(path);
    t.match(section, `node ${path}`);
    t.match(containerfile, folder === 'scripts' ? 'COPY scripts/*.ts scripts/\n' : `COPY ${folder} ${folder}\n`, name);
  }
});

t.test('every path of the source tree in CONTRIBUTING exists', async (t) => {
  const tree = fencedBlocks(readSection(CONTRIBUTING, 'Where things are')).at(-1) ?? '';
  let directory = '';
  let count = 0;
  for (const line of tree.trimEnd().split('\n')) {
    const [, indent = '', paths = ''] = /^( *)(\S+(?: \S+)*?)(?: {2,}|$)/.exec(line) ?? [];
    for (const path of paths.split(' ')) {
      t.ok(existsSync(join(indent ? directory : '', path)), line.trim());
      count++;
    }
    if (!indent) directory = paths;
  }
  t.ok(count > 30);
});

t.test('every file that a document names or links to exists', async (t) => {
  for (const [path, text] of documents) {
    const named = [...text.matchAll(/`((?:handlers|db|scripts|test|generated|\.ci|\.github)\/[\w./-]*)`/g)];
    for (const [, name = ''] of named) t.ok(existsSync(name), `${path}: ${name}`);
    for (const [, link = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(#[^)]+)?\)/g)) {
      const target = link === '' ? path : join(dirname(path), link);
      t.ok(existsSync(target), `${path}: ${link}`);
      if (anchor) t.ok(anchorsOf(readFileSync(target, 'utf8')).includes(anchor), `${path}: ${link}${anchor}`);
    }
  }
});

/** Returns the anchors that GitHub assigns to headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const words = title.toLowerCase().replace(/[^\w -]/g, '');
    return `#${words.replaceAll(' ', '-')}`;
  });
