import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { readConfig } from '../handlers/http/config.js';
import { operationsOf, resolveReferences } from '../scripts/generate/document.js';
import { startTestService } from './harness.js';
import { temporaryDirectory } from './stores.js';

const readme = readFileSync('README.md', 'utf8');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

function section(title: string): string {
  const found = readme.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  if (!found) throw new Error(`README.md has no section "${title}"`);
  return found;
}

/** The fenced blocks of a section, each with the word after its fence. */
const fenced = (text: string) =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, kind = '', content = '']) => ({ kind, content }));

/** Whether an output is as documented, where `…` stands for anything within a line. */
const asDocumented = (documented: string) =>
  new RegExp(
    `^${documented
      .split('…')
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  );

t.test('every sh block of the tour runs as it stands, and prints the text block below it', async (t) => {
  const service = await startTestService(t);
  const blocks = fenced(section('A tour with curl'));
  const commands = blocks.filter(({ kind }) => kind === 'sh').map(({ content }) => content);
  const documented = blocks.flatMap(({ kind }, index) =>
    kind === 'sh' ? [blocks[index + 1]?.kind === 'text' ? (blocks[index + 1]?.content ?? '') : ''] : [],
  );
  const end = 'here ends a block\n';
  const { stdout, stderr } = await promisify(execFile)(
    'bash',
    ['--norc', '-e', '-o', 'pipefail', '-c', commands.join(`printf '${end}'\n`)],
    { cwd: await temporaryDirectory(t), env: { PATH: process.env.PATH, BASE: service.url } },
  );
  const printed = stdout.split(end);
  t.equal(printed.length, documented.length);
  t.ok(documented.length > 5);
  for (const [index, output] of printed.entries()) t.match(output, asDocumented(documented[index] ?? ''));
  t.equal(stderr, '');
});

t.test('the tour goes to the address that a start has by default', async (t) => {
  const { host, port } = readConfig({});
  t.match(section('A tour with curl'), `BASE=\${BASE:-http://${host}:${port}}\n`);
});

t.test('the configuration table has every variable that is read, and no other, with its default', async (t) => {
  const text = section('Configuration');
  const rows = [...text.matchAll(/^\| `([A-Z0-9_]+)` \| (.+?) \|/gm)];
  const names = rows.map(([, name = '']) => name);
  const read = [...readFileSync('handlers/http/config.ts', 'utf8').matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)];
  t.same([...names].sort(), read.map(([, name]) => name).sort());
  for (const [, name = '', value = ''] of rows) {
    const [, stated] = /^`(.+)`$/.exec(value) ?? [];
    if (stated !== undefined) t.same(readConfig({ [name]: stated }), readConfig({}), name);
  }
});

t.test('every npm command that is named exists', async (t) => {
  const named = [...readme.matchAll(/\bnpm (?:run (\w[\w:-]*)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
  for (const name of new Set(named)) t.ok(scripts[name], name);
  for (const name of ['start', 'dev', 'tour', 'generate', 'test', 'check']) t.ok(named.includes(name), name);
});

t.test('every path of the layout exists', async (t) => {
  const tree = fenced(section('Layout')).at(-1)?.content ?? '';
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

t.test('every file that the text names exists', async (t) => {
  const named = [...readme.matchAll(/`((?:handlers|db|scripts|test|generated|\.ci)\/[\w./-]*)`/g)];
  for (const path of new Set(named.map(([, path = '']) => path))) t.ok(existsSync(path), path);
  t.ok(named.length > 0);
});

t.test('the operation of the example is one that the generator takes', async (t) => {
  const [path = '', schema = ''] = fenced(section('Adding an operation')).flatMap(({ kind, content }) =>
    kind === 'yaml' ? [content] : [],
  );
  const document = parse(readFileSync('openapi.yaml', 'utf8'));
  Object.assign(document.paths, parse(path));
  Object.assign(document.components.schemas, parse(schema));
  const added = operationsOf(resolveReferences(document)).find(({ id }) => id === 'countFriends');
  t.match(added, { path: '/friends/count', secured: true, rateLimit: 'general', refusesEmptyObject: true });
});
