import { existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../scripts/table.js';
import type { Outcome } from './checker.js';
import { checkAll } from './checkers.js';
import { FSYNC_GROUPS, type FsyncGroup } from './cuts.js';
import { replay } from './disk.js';
import { differences } from './disk-contents.js';
import { record } from './record.js';

/*
 * Simulates power cuts of a service on embedded stores, and checks whether the service starts again, whether its stores are
 * consistent, and whether everything acknowledged is still there.
 *
 * One service is run and recorded: every change of its files, every fsync and every response. From the recording, the states
 * that a power cut may leave on the disk are derived (see `disk.ts`). Each state is written to a directory, and a service is
 * started on it. Faults are printed with the number of the state.
 *
 *   npm run test:power-cuts                                     40 states
 *   npm run test:power-cuts -- --states 500 --seed 7            more states, from a known seed
 *   npm run test:power-cuts -- --trace DIRECTORY --only 17      one state of a kept trace
 *   npm run test:power-cuts -- --ignore-fsync all               ignores every fsync: must fail
 *
 * A run that finds faults keeps its trace, since two runs of a service never write the same.
 */

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '40' },
    seed: { type: 'string', default: Math.random().toString(36).slice(2) },
    only: { type: 'string' },
    trace: { type: 'string' },
    'ignore-fsync': { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
  },
});

/** Splits a comma-separated list of groups. Throws if one is unknown. */
function parseGroups(list: string): FsyncGroup[] {
  const groups = list.split(',').filter(Boolean) as FsyncGroup[];
  if (groups.every((group) => FSYNC_GROUPS.includes(group))) return groups;
  throw new Error(`"${list}" is not one of ${FSYNC_GROUPS.join(', ')}`);
}
const ignored = parseGroups(values['ignore-fsync']);
const numbers =
  values.only?.split(',').map(Number) ?? Array.from({ length: Number(values.states) }, (_, index) => index);

const PRINTED_FAULTS_MAX = 5;

// Hundreds of data directories are written: in memory if possible.
const memoryDirectory = '/dev/shm';
const scratch = await mkdtemp(join(existsSync(memoryDirectory) ? memoryDirectory : tmpdir(), 'power-cuts-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const trace = values.trace ?? (await mkdtemp(join(tmpdir(), 'power-cuts-trace-')));

async function recordTrace(): Promise<void> {
  const root = join(scratch, 'recorded');
  await mkdir(root);
  const began = performance.now();
  const { operations, requests } = await record(trace, root, values.seed);
  const missing = await differences(replay(operations, root), root);
  if (missing.length > 0) throw new Error(`The trace is incomplete: replayed, it differs in ${missing.slice(0, 10)}`);
  await rm(root, { recursive: true });
  const syncs = operations.filter(({ kind }) => kind === 'sync').length;
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `recorded ${operations.length} operations (${syncs} fsync) and ${requests.length} responses in ${seconds} s`,
  );
}

const outcomes: Outcome[] = [];

function report(outcome: Outcome): void {
  outcomes.push(outcome);
  const { number, title, faults, factCount, state } = outcome;
  if (faults.length === 0) return;
  const countAndLast = (paths: string[]) => [paths.length, ...paths.slice(-3)].join(', ').replaceAll(scratch, '');
  console.log(`\nFAILED state ${number}: ${title}`);
  for (const fault of faults.slice(0, PRINTED_FAULTS_MAX)) console.log(`  ${fault}`);
  const more = faults.length - PRINTED_FAULTS_MAX;
  if (more > 0) console.log(`  and ${more} more, of ${factCount} facts`);
  console.log(
    `  lost directory entries: ${countAndLast(state.lostEntries)}; stale files: ${countAndLast(state.staleFiles)}`,
  );
}

/** Returns the rounded mean. */
const mean = (numbers: number[]) => {
  const sum = numbers.reduce((sum, number) => sum + number, 0);
  return String(Math.round(sum / numbers.length));
};

function summary(): string {
  const phases = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const [phase = ''] = outcome.title.split(',');
    phases.set(phase, [...(phases.get(phase) ?? []), outcome]);
  }
  return table(
    [...phases].map(([phase, phaseOutcomes]) => ({
      'power cut during': phase,
      states: String(phaseOutcomes.length),
      failed: String(phaseOutcomes.filter(({ faults }) => faults.length > 0).length),
      facts: mean(phaseOutcomes.map(({ factCount }) => factCount)),
      'volatile entries': mean(phaseOutcomes.map(({ state }) => state.volatileEntries)),
      'volatile writes': mean(phaseOutcomes.map(({ state }) => state.volatileChanges)),
      ms: mean(phaseOutcomes.map(({ ms }) => ms)),
    })),
  );
}

if (values.trace === undefined) await recordTrace();
const without = ignored.length > 0 ? `, without fsync of ${ignored.join(', ')}` : '';
console.log(`seed ${values.seed}${without}`);
const began = performance.now();
await checkAll(numbers, Number(values.jobs), { seed: values.seed, ignored, trace, scratch }, report);
const seconds = (performance.now() - began) / 1000;
const failed = outcomes.filter(({ faults }) => faults.length > 0).sort((one, other) => one.number - other.number);
console.log(`\n${summary()}\n`);
console.log(
  `${outcomes.length - failed.length} states passed, ${failed.length} failed; ${(seconds / outcomes.length).toFixed(1)} s each.`,
);
if (values.trace !== undefined || failed.length > 0) {
  const ignoreOption = ignored.length > 0 ? ` --ignore-fsync ${ignored}` : '';
  const options = `--trace ${trace} --seed ${values.seed}${ignoreOption} --only ${failed[0]?.number ?? 0}`;
  console.log(`To repeat: npm run test:power-cuts -- ${options}`);
} else {
  await rm(trace, { recursive: true });
}
process.exit(failed.length > 0 ? 1 : 0);
