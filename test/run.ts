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
 * Runs tests. A test's folder is its kind; `test/*.test.ts` are the integration tests. Some kinds are programs of their own.
 *
 *   npm test                        the fast kinds: unit, integration, browser
 *   npm test -- long,servers        all files of these kinds; `all` means every kind that is not a program
 *   npm test -- feed images         the files of every kind whose names contain one of the words
 *   npm test -- model               a program: see the header of its run.ts for its options
 *
 * The files run in a few worker processes: see `worker.ts`.
 */

const FAST_KINDS = ['unit', 'integration', 'browser'];
const PROGRAMS = ['model', 'fuzz', 'abuse', 'schemathesis', 'clients'];

const SLOWEST_COUNT = 10;

/** The maximum time of a worker, for all its files. Each file has its own timeout: see `worker.ts`. */
const WORKER_TIMEOUT_SECONDS = 3600;

const MEMORY_DIRECTORY_MIN_BYTES = 4 * 1024 ** 3;

const files = readdirSync('test', { recursive: true })
  .map(String)
  .filter((source) => source.endsWith('.test.ts'))
  .map((source) => ({
    path: source.replace(/\.test\.ts$/, ''),
    kind: dirname(source) === '.' ? 'integration' : dirname(source),
    bytes: statSync(join('test', source)).size,
  }))
  // Larger files take longer. They run first, so that the workers end at about the same time.
  .sort((a, b) => b.bytes - a.bytes);

const knownKinds = [...new Set(files.map(({ kind }) => kind))];

/** Returns the files that an argument selects: those of its kinds, or with the word in their paths, such as `long/races`. */
function filesOf(argument: string): typeof files {
  if (argument === 'all') return files;
  const names = argument.split(',');
  const areKinds = names.every((name) => knownKinds.includes(name));
  return files.filter(({ kind, path }) => (areKinds ? names.includes(kind) : path.includes(argument)));
}

const [program = '', ...programOptions] = process.argv.slice(2);
if (PROGRAMS.includes(program)) {
  const child = spawn(process.execPath, [`.build/test/${program}/run.js`, ...programOptions], { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  process.exit(code ?? 1);
}

const command = createCommand(
  'test',
  'Runs the test files of some kinds, and those whose names contain one of the words.',
)
  .argument('[kinds and words...]')
  // One more than the number of cores, because some tests mostly wait.
  .option('--jobs <n>', 'the number of worker processes', integerFrom(1), availableParallelism() + 1)
  .option('--bail', 'stops after the first failure')
  .parse();
const { jobs, bail } = command.opts<{ jobs: number; bail?: boolean }>();
const selections = command.args.length > 0 ? command.args : [FAST_KINDS.join()];
const unmatched = selections.filter((argument) => filesOf(argument).length === 0);
for (const argument of unmatched) {
  const kinds = [...knownKinds, ...PROGRAMS].join(', ');
  console.error(`“${argument}” is neither a kind nor part of the name of a test file. The kinds are ${kinds}.`);
}
if (unmatched.length > 0) process.exit(1);
const selected = files.filter((file) => selections.some((argument) => filesOf(argument).includes(file)));

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
