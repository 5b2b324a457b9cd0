import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFaults } from './check.js';
import { type CutOptions, cutOf } from './cuts.js';
import { type CrashState, crash, replay } from './disk.js';
import { expectedAt } from './facts.js';
import { dataDirectoryIn, readRecording } from './record.js';
import { writeRemains } from './remains.js';

/*
 * A process that checks one state after the other: its parent sends numbers, and it sends back what it has found. A state may
 * end or block it; its parent starts another one then.
 */

export interface CheckerOptions extends CutOptions {
  trace: string;
  /** Where states are written. */
  scratch: string;
}

export interface Outcome {
  number: number;
  title: string;
  faults: string[];
  ms: number;
  expected: number;
  state: Omit<CrashState, 'remains'>;
}

const options: CheckerOptions = JSON.parse(process.argv[2] ?? '');
const recording = await readRecording(options.trace);
const history = replay(recording.operations, recording.root);

async function check(number: number): Promise<Outcome> {
  const began = performance.now();
  const { title, ...cut } = cutOf(recording, options, number);
  const { remains, ...state } = crash(history, cut);
  const begin = (step: string) => process.send?.({ title, step });
  begin('write the state');
  const expected = expectedAt(recording.requests, cut.at);
  const root = await mkdtemp(join(options.scratch, `state-${number}-`));
  await writeRemains(remains, root);
  const faults = await findFaults(dataDirectoryIn(root), expected, begin);
  await rm(root, { recursive: true });
  return { number, title, faults, ms: performance.now() - began, expected: expected.length, state };
}

process.on('message', async (number: number) => process.send?.({ outcome: await check(number) }));
process.send?.({ ready: true });
