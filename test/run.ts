import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCommand, integerFrom } from '../scripts/support/command.js';
import { table } from '../scripts/support/table.js';

/*
 * Runs tests: `npm test` runs the fast kinds, `npm run test:all` every kind. A test's folder is its kind; `test/*.test.ts` are
 * the integration tests. Words select the files of every kind whose names contain one of the words:
 *
 *   npm test -- feed images
 *
 * The files run in a few worker processes: see `worker.ts`.
 */

const SLOWEST_COUNT = 10;

/** The maximum time of a worker, for all its files. Each file has its own timeout: see `worker.ts`. */
const WORKER_TIMEOUT_SECONDS = 3600;

const MEMORY_DIRECTORY_MIN_BYTES = 4 * 1024 ** 3;

const files = readdirSync('test', { recursive: true })
  .map(String)
  .filter((source) => source.endsWith('.test.ts'))
  .map((source) => ({
    path: source.replace(/\.test\.ts$/, ''),
    name: basename(source, '.test.ts'),
    kind: dirname(source) === '.' ? 'integration' : dirname(source),
    bytes: statSync(join('test', source)).size,
  }))
  // Larger files take longer. They run first, so that the workers end at about the same time.
  .sort((a, b) => b.bytes - a.bytes);

const command = createCommand(
  'test',
  'Runs the test files of some kinds, or those whose names contain one of the words.',
)
  .argument('<kinds>')
  .argument('[words...]')
  // One more than the number of cores, because some tests mostly wait.
  .option('--jobs <n>', 'the number of worker processes', integerFrom(1), availableParallelism() + 1)
  .option('--bail', 'stops after the first failure')
  .parse();
const { jobs, bail } = command.opts<{ jobs: number; bail?: boolean }>();
const [kinds = '', ...words] = command.args;
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

/**
 * Rebuilds a newly installed tap without the plugins that package.json excludes. Otherwise tap rebuilds itself during the first
 * run, whose test processes still load the excluded TypeScript loader: that doubles their time.
 */
function removeExcludedPlugins(): void {
  const built = readFileSync(fileURLToPath(import.meta.resolve('@tapjs/test/built')), 'utf8');
  if (built.includes('@tapjs/typescript')) spawnSync('tap', ['build'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function createWorkers(count: number): string[] {
  const directory = join('.build', 'test', 'workers');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return Array.from({ length: count }, (_, index) => {
    const path = join(directory, `${index + 1}.js`);
    writeFileSync(path, "import '../worker.js';\n");
    return path;
  });
}

/** Returns Linux's directory in memory if it has enough space: each test service starts with a thousand small files. */
function memoryDirectory(): string | undefined {
  const directory = '/dev/shm';
  if (!existsSync(directory)) return undefined;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= MEMORY_DIRECTORY_MIN_BYTES ? directory : undefined;
}

async function runTap(workers: readonly string[]): Promise<number> {
  const TMPDIR = process.env.TMPDIR ?? memoryDirectory() ?? tmpdir();
  const claims = mkdtempSync(join(TMPDIR, 'test-claims-'));
  const tap = spawn(
    'tap',
    [`--jobs=${workers.length}`, `--timeout=${WORKER_TIMEOUT_SECONDS}`, ...(bail ? ['--bail'] : []), ...workers],
    {
      stdio: 'inherit',
      env: { ...process.env, TMPDIR, TEST_FILES: selected.map(({ path }) => path).join(), TEST_CLAIMS: claims },
    },
  );
  const [code] = await once(tap, 'close');
  rmSync(claims, { recursive: true });
  return code ?? 1;
}

/** Returns the duration and the outcome of each file that has run, slowest first. */
function readTimings(workers: readonly string[]) {
  const results = workers.map((path) => `.tap/test-results/${path}.tap`).filter(existsSync);
  return results
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^(ok|not ok) \d+ - (\S+) # time=([\d.]+)ms$/gm)])
    .map(([, outcome, path = '', ms]) => ({ path, seconds: Number(ms) / 1000, failed: outcome === 'not ok' }))
    .sort((a, b) => b.seconds - a.seconds);
}

removeExcludedPlugins();
const workers = createWorkers(Math.min(jobs, selected.length));
process.exitCode = await runTap(workers);

const timed = readTimings(workers);
const rows = timed.slice(0, SLOWEST_COUNT).map(({ path, seconds }) => ({ file: path, seconds: seconds.toFixed(1) }));
const toRerun = timed.find(({ failed }) => failed) ?? timed[0];
console.log(`\nThe slowest files:\n${table(rows)}\n\nTo run one again: npm test -- ${basename(toRerun?.path ?? '')}`);
const notRun = files.filter((file) => !selected.includes(file));
if (words.length === 0 && notRun.length > 0) {
  const kindsNotRun = [...new Set(notRun.map(({ kind }) => kind))];
  console.log(
    `Not run: ${notRun.length} files of the kinds ${kindsNotRun.join(', ')}. npm run test:all runs every kind.`,
  );
}
