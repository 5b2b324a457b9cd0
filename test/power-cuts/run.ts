import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import pLimit from 'p-limit';
import t, { type Test } from 'tap';
import { findFaultsInProcess, stopCheckers } from './checkers.js';
import { cutOf } from './cuts.js';
import { crash, type History, replay, writeContents } from './disk.js';
import { expectedAt } from './facts.js';
import { dataDirectoryIn, type Recording, readRecording, record } from './record.js';

/*
 * Simulates power cuts of a service on embedded stores, and checks whether the service starts again, whether its stores are
 * consistent, and whether everything acknowledged is still there.
 *
 * One service is run and recorded: every change of its files, every fsync and every response. From the recording, the states
 * that a power cut may leave on the disk are derived (see `disk.ts`). Each state is written to a directory, and a service is
 * started on it.
 *
 *   npm run test:power-cuts                                     40 states
 *   npm run test:power-cuts -- --states 500 --seed 7            more states, from a known seed
 *   npm run test:power-cuts -- --trace DIRECTORY --seed 7 --only 17      one state of a kept trace
 *   npm run test:power-cuts -- --ignore-fsync /pg_wal/          ignores fsync of the files whose paths match: must fail
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
const { seed } = values;
const ignoredPaths = values['ignore-fsync'] === undefined ? undefined : new RegExp(values['ignore-fsync']);
const numbers =
  values.only === undefined
    ? Array.from({ length: Number(values.states) }, (_, index) => index)
    : [Number(values.only)];

t.ok(numbers.length > 0 && numbers.every(Number.isInteger), `states ${numbers.join(', ')}`);

const CONCURRENT_CHECKS = 2;
const PRINTED_FAULTS_MAX = 5;

// Hundreds of data directories are written: in memory if possible.
const memoryDirectory = '/dev/shm';
const scratch = await mkdtemp(join(existsSync(memoryDirectory) ? memoryDirectory : tmpdir(), 'power-cuts-'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const trace = values.trace ?? (await mkdtemp(join(tmpdir(), 'power-cuts-trace-')));

async function recordTrace(t: Test): Promise<Recording> {
  const root = join(scratch, 'recorded');
  await mkdir(root);
  const recording = await record(t, trace, root, seed);
  const replayed = join(scratch, 'replayed');
  const { contents } = crash(replay(recording.operations, root), {
    at: Number.POSITIVE_INFINITY,
    keep: { entries: 1, content: 1, contentUnit: 'file' },
    chance: () => true,
    respectsSyncs: () => true,
  });
  await writeContents(contents, replayed);
  const compared = promisify(execFile)('diff', ['--recursive', '--brief', root, replayed]);
  await t.resolves(compared, 'the recording is complete: its replay reproduces all files');
  for (const directory of [root, replayed]) await rm(directory, { recursive: true });
  return recording;
}

/** Checks the state after one power cut. Returns whether it has no faults. */
async function checkState(t: Test, recording: Recording, history: History, number: number): Promise<boolean> {
  const { title, ...cut } = cutOf(recording, seed, ignoredPaths, number);
  const { contents, lostEntries, staleFiles } = crash(history, cut);
  const root = await mkdtemp(join(scratch, `state-${number}-`));
  await writeContents(contents, root);
  const expected = expectedAt(recording.requests, cut.at);
  const faults = await findFaultsInProcess({ dataDirectory: dataDirectoryIn(root), expected });
  await rm(root, { recursive: true });
  return t.same(faults.slice(0, PRINTED_FAULTS_MAX), [], `state ${number}: ${title}`, {
    faults: faults.length,
    lostEntries: lostEntries.slice(-3),
    staleFiles: staleFiles.slice(-3),
  });
}

t.test('after every power cut, the service starts, its stores agree, and no acknowledged data is lost', async (t) => {
  const recording = values.trace === undefined ? await recordTrace(t) : await readRecording(trace);
  const history = replay(recording.operations, recording.root);
  t.comment(`--seed ${seed}: ${recording.operations.length} operations, ${recording.requests.length} responses`);
  const check = (number: number) => checkState(t, recording, history, number);
  t.teardown(stopCheckers);
  const outcomes = await pLimit(CONCURRENT_CHECKS).map(numbers, check);
  if (outcomes.includes(false)) t.comment(`To repeat a state, add: --trace ${trace} --seed ${seed} --only NUMBER`);
  else if (values.trace === undefined) await rm(trace, { recursive: true });
});
