import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import pLimit from 'p-limit';
import t, { type Test } from 'tap';
import { startProcess } from '../support/processes.js';
import { createRandom, type Random } from '../support/random.js';
import { type Cut, crash, type History, replay } from './disk.js';
import { type CompletedWrite, expectedAt } from './facts.js';
import { RecordingClient } from './load.js';
import { type DiskOperation, now, readOperations } from './trace.js';

/*
 * Simulates power cuts of a service on embedded stores, and checks whether the service starts again, whether its stores are
 * consistent, and whether everything acknowledged is still there.
 *
 * One service is run and recorded: every change of its files, every fsync and every response. From the recording, the states
 * that a power cut may leave on the disk are derived (see `disk.ts`). Each state is written to a directory, and a service is
 * started on it.
 *
 *   npm test -- power-cuts --states 500 --seed 7                  more states than 40, from a known seed
 *   npm test -- power-cuts --trace DIRECTORY --seed 7 --only 17   one state of a kept trace
 *   npm test -- power-cuts --ignore-fsync /pg_wal/                ignores fsync of the files whose paths match: must fail
 *
 * A run that finds faults keeps its trace, because two runs of a service never write the same. The path of a directory ends
 * with a slash, so `--ignore-fsync '/$'` ignores fsync of directories.
 */

t.setTimeout(0);

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '40' },
    seed: { type: 'string', default: Math.random().toString(36).slice(2) },
    only: { type: 'string' },
    trace: { type: 'string' },
    'ignore-fsync': { type: 'string' },
  },
});
const { seed, only, 'ignore-fsync': ignored } = values;
const numbers = only === undefined ? [...Array(Number(values.states)).keys()] : [Number(only)];

const CONCURRENT_CHECKS = 2;
const CHECK_TIMEOUT_MS = 180_000;
const PRINTED_FAULTS_MAX = 5;
const CLIENTS = 4;

const run = promisify(execFile);
const built = (name: string) => resolve('.build/test/power-cuts', name);

// Hundreds of data directories are written: in memory if possible.
const memoryDirectory = '/dev/shm';
const scratch = await mkdtemp(join(existsSync(memoryDirectory) ? memoryDirectory : tmpdir(), 'power-cuts-'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const trace = values.trace ?? (await mkdtemp(join(tmpdir(), 'power-cuts-trace-')));

interface Recording {
  /** The parent of the data directory. Only operations in it are recorded. It is empty at first, and survives any power cut. */
  root: string;
  /** The times at which phases of the recording begin, so that short phases have as many cuts as long ones. */
  phases: number[];
  writes: CompletedWrite[];
}

/** Runs a service on an empty directory through all phases that write. */
async function record(t: Test): Promise<Recording> {
  const root = join(scratch, 'recorded');
  await mkdir(root);
  const [phases, writes]: [number[], CompletedWrite[]] = [[], []];
  const begin = () => phases.push(now());
  const environment = {
    DATA_DIR: join(root, 'data'),
    NODE_OPTIONS: `--import ${pathToFileURL(built('recorder.js'))}`,
    RECORD_BELOW: root,
    RECORD_TO: trace,
  };
  const start = () => startProcess(t, environment, [], built('service.js'));
  begin();
  let service = await start();
  const createClient = (index: number) => new RecordingClient(createRandom(seed, index), writes, () => service.url);
  const clients = Array.from({ length: CLIENTS }, (_, index) => createClient(index));
  const load = (steps: number) =>
    Promise.all(
      clients.map(async (client) => {
        for (let step = 0; step < steps; step += 1) await client.step();
      }),
    );

  begin();
  for (const client of clients) await client.register();
  begin();
  await load(12);
  begin();
  service.child.kill('SIGUSR2');
  await load(8);
  begin();
  await service.end('SIGTERM');
  begin();
  service = await start();
  await load(4);
  service.child.kill('SIGUSR2');
  await load(4);
  await service.end('SIGKILL');
  begin();
  service = await start();
  await load(4);
  begin();
  await service.end('SIGTERM');
  const recording = { root, phases, writes };
  await writeFile(join(trace, 'recording.json'), JSON.stringify(recording));
  return recording;
}

async function writeState(history: History, cut: Cut, directory: string): Promise<void> {
  for (const [path, bytes] of crash(history, cut)) {
    if (bytes) await writeFile(join(directory, path), bytes);
    else await mkdir(join(directory, path));
  }
}

/** Expects the replay of the recording without a power cut to reproduce all files. */
async function expectComplete(t: Test, history: History, root: string): Promise<void> {
  const replayed = await mkdtemp(join(scratch, 'replayed-'));
  const keep = { entries: 1, content: 1, contentUnit: 'file' } as const;
  const cut = { at: Number.POSITIVE_INFINITY, keep, chance: () => true, respectsSyncs: () => true };
  await writeState(history, cut, replayed);
  await t.resolves(run('diff', ['--recursive', '--brief', root, replayed]), 'the recording is complete');
  for (const directory of [root, replayed]) await rm(directory, { recursive: true });
}

/** Picks a time in a phase: right after a response, or after or during an operation, preferably not an open or a write. */
function pickTime(random: Random, { phases, writes }: Recording, operations: readonly DiskOperation[]) {
  const phase = random.below(phases.length);
  const within = ({ start }: { start: number }) =>
    start >= (phases[phase] ?? 0) && start < (phases[phase + 1] ?? Number.POSITIVE_INFINITY);
  const [completed, performed] = [writes.filter(within), operations.filter(within)];
  const rare = performed.filter(({ kind }) => !['open', 'write'].includes(kind));
  const choice = random.next();
  if (completed.length > 0 && choice < 0.4) {
    const { end, request } = random.pick(completed);
    return { at: end, title: `phase ${phase}, after the response to ${request}` };
  }
  const { start, end, kind } = random.pick(rare.length > 0 && choice < 0.7 ? rare : performed);
  return random.chance(0.5)
    ? { at: start, title: `phase ${phase}, during ${kind}` }
    : { at: end, title: `phase ${phase}, after ${kind}` };
}

/** Checks the state after the power cut with this number. Returns whether it has no faults. */
async function checkState(
  t: Test,
  recording: Recording,
  operations: readonly DiskOperation[],
  history: History,
  number: number,
): Promise<boolean> {
  const random = createRandom(seed, number);
  const { at, title } = pickTime(random, recording, operations);
  const keep = {
    entries: random.pick([0, 0, 0.5, 0.9, 1]),
    content: random.pick([0, 0.1, 0.5, 0.95, 1]),
    contentUnit: random.pick(['file', 'sector'] as const),
  };
  const respectsSyncs: Cut['respectsSyncs'] = ({ path, isDirectory }) =>
    ignored === undefined || !new RegExp(ignored).test(isDirectory ? `${path}/` : path);
  const directory = await mkdtemp(join(scratch, `state-${number}-`));
  await writeState(history, { at, keep, chance: random.chance, respectsSyncs }, directory);
  await writeFile(join(directory, 'expected.json'), JSON.stringify(expectedAt(recording.writes, at)));
  // WebAssembly is recompiled for each state, and does not run long enough to be worth optimizing.
  const checked = run(process.execPath, ['--liftoff-only', built('check.js'), directory], {
    timeout: CHECK_TIMEOUT_MS,
  });
  const faults: string[] = await checked.then(
    async () => JSON.parse(await readFile(join(directory, 'faults.json'), 'utf8')),
    (error) => [`${error}`.slice(-2_000)],
  );
  await rm(directory, { recursive: true });
  const what = `state ${number}: ${title}, keeps ${JSON.stringify(keep)}`;
  return t.same(faults.slice(0, PRINTED_FAULTS_MAX), [], what, { faults: faults.length });
}

t.test('after every power cut, the service starts, its stores agree, and no acknowledged data is lost', async (t) => {
  const isNew = values.trace === undefined;
  const recording: Recording = isNew
    ? await record(t)
    : JSON.parse(await readFile(join(trace, 'recording.json'), 'utf8'));
  const operations = readOperations(trace);
  const history = replay(operations, recording.root);
  if (isNew) await expectComplete(t, history, recording.root);
  t.comment(`--seed ${seed}: ${operations.length} operations, ${recording.writes.length} writes`);
  const outcomes = await pLimit(CONCURRENT_CHECKS).map(numbers, (number) =>
    checkState(t, recording, operations, history, number),
  );
  if (outcomes.includes(false)) t.comment(`To repeat a state, add: --trace ${trace} --seed ${seed} --only NUMBER`);
  else if (isNew) await rm(trace, { recursive: true });
});
