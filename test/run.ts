import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { table } from '../scripts/table.js';

/*
 * Runs tests: `npm test` the fast kinds, `npm run test:all` every kind. A test's folder is its kind; `test/*.test.ts` are the
 * integration tests. Words select the files, of every kind, whose names contain one of them:
 *
 *   npm test -- friends likes
 *
 * Options are passed to tap: `npm test -- --bail`.
 */

const SLOWEST_COUNT = 10;

interface TestFile {
  path: string;
  name: string;
  kind: string;
}

const files: TestFile[] = readdirSync('test', { recursive: true })
  .map(String)
  .filter((source) => source.endsWith('.test.ts'))
  .sort()
  .map((source) => ({
    path: join('.build', 'test', source.replace(/ts$/, 'js')),
    name: basename(source, '.test.ts'),
    kind: dirname(source) === '.' ? 'integration' : dirname(source),
  }));

const [kinds = '', ...rest] = process.argv.slice(2);
const { positionals: words } = parseArgs({ args: rest, strict: false, allowPositionals: true });
const selected =
  words.length > 0
    ? files.filter(({ name }) => words.some((word) => name.includes(word)))
    : files.filter(({ kind }) => kinds === 'all' || kinds.split(',').includes(kind));

const knownKinds = [...new Set(files.map(({ kind }) => kind))];
const unknownKinds = kinds === 'all' ? [] : kinds.split(',').filter((kind) => !knownKinds.includes(kind));
const unmatchedWords = words.filter((word) => !files.some(({ name }) => name.includes(word)));
for (const kind of unknownKinds)
  console.error(`No test is of the kind ${kind}. The kinds are ${knownKinds.join(', ')}.`);
for (const word of unmatchedWords) console.error(`No test file has “${word}” in its name.`);
if (unknownKinds.length > 0 || unmatchedWords.length > 0) process.exit(1);

/** Returns the duration and the outcome of each selected file, slowest first. */
function readTimings() {
  const timed = selected.map(({ path, name, kind }) => {
    const result = readResult(path);
    const [, ms = 0] = /# time=([\d.]+)ms\s*$/.exec(result) ?? [];
    return { name, kind, seconds: Number(ms) / 1000, failed: /^not ok/m.test(result) };
  });
  return timed.sort((a, b) => b.seconds - a.seconds);
}

/** Returns the TAP output of a file, or an empty string if it has not run. */
function readResult(path: string): string {
  try {
    return readFileSync(`.tap/test-results/${path}.tap`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Rebuilds a newly installed tap without the plugins that package.json excludes. Otherwise tap rebuilds itself during the first
 * run, whose test processes still load the excluded TypeScript loader: that doubles their time.
 */
function removeExcludedPlugins(): void {
  const built = readFileSync(fileURLToPath(import.meta.resolve('@tapjs/test/built')), 'utf8');
  if (built.includes('@tapjs/typescript')) spawnSync('tap', ['build'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

removeExcludedPlugins();
const options = rest.filter((argument) => argument.startsWith('-'));
const tap = spawn('tap', [...options, ...selected.map(({ path }) => path)], { stdio: 'inherit' });
const [code] = await once(tap, 'close');

const notRun = files.filter((file) => !selected.includes(file));
const kindsNotRun = [...new Set(notRun.map(({ kind }) => kind))];
const timed = readTimings();
const rows = timed
  .slice(0, SLOWEST_COUNT)
  .map(({ name, kind, seconds }) => ({ name, kind, seconds: seconds.toFixed(1) }));
const toRerun = timed.find(({ failed }) => failed) ?? timed[0];
console.log(`\nThe slowest files:\n${table(rows)}\n\nTo run one again: npm test -- ${toRerun?.name}`);
if (words.length === 0 && notRun.length > 0) {
  console.log(
    `Not run: ${notRun.length} files of the kinds ${kindsNotRun.join(', ')}. npm run test:all runs every kind.`,
  );
}
process.exitCode = code ?? 1;
