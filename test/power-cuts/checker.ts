import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFaults } from './check.js';
import { type CutOptions, cutOf } from './cuts.js';
import { type CrashState, crash, replay } from './disk.js';
import { writeContents } from './disk-contents.js';
import { expectedAt } from './facts.js';
import { dataDirectoryIn, readRecording } from './record.js';

/*
 * A worker process that checks crash states: the parent sends their numbers, and it sends back the outcomes. A bad state may
 * crash or block the process; the parent then starts another one.
 */

export interface CheckerOptions extends CutOptions {
  trace: string;
  /** The directory to which states are written. */
  scratch: string;
}

export interface Outcome {
  number: number;
  title: string;
  faults: string[];
  ms: number;
  /** The number of checked facts. */
  factCount: number;
  state: Omit<CrashState, 'contents'>;
}

const options: CheckerOptions = JSON.parse(process.argv[2] ?? '');
const recording = await readRecording(options.trace);
const history = replay(recording.operations, recording.root);

async function check(number: number): Promise<Outcome> {
  const began = performance.now();
  const { title, ...cut } = cutOf(recording, options, number);
  const { contents, ...state } = crash(history, cut);
  const begin = (step: string) => process.send?.({ title, step });
  begin('write the state');
  const expected = expectedAt(recording.requests, cut.at);
  const root = await mkdtemp(join(options.scratch, `state-${number}-`));
  await writeContents(contents, root);
  const faults = await findFaults(dataDirectoryIn(root), expected, begin);
  await rm(root, { recursive: true });
  return { number, title, faults, ms: performance.now() - began, factCount: expected.length, state };
}

process.on('message', async (number: number) => process.send?.({ outcome: await check(number) }));
process.send?.({ ready: true });
