import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { CheckerOptions, Outcome } from './checker.js';

const CHECK_TIMEOUT_MS = 180_000;

/** A checker is replaced after this many states, since PGlite does not free its memory. */
const STATES_PER_CHECKER = 20;

/** Checks the states with these numbers in up to `jobs` processes at a time. */
export async function checkAll(
  numbers: readonly number[],
  jobs: number,
  options: CheckerOptions,
  report: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = [...numbers];
  const work = async () => {
    while (waiting.length > 0) {
      const child = await startChecker(options);
      for (let count = 0; count < STATES_PER_CHECKER; count += 1) {
        const number = waiting.shift();
        if (number === undefined) break;
        const outcome = await checkState(child, number);
        report(outcome);
        // A service that failed to start may have left files or ports open.
        if (outcome.faults.length > 0) break;
      }
      child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, numbers.length) }, work));
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** Starts a checker and waits until it has read the trace. */
async function startChecker(options: CheckerOptions): Promise<ChildProcess> {
  const child = fork(resolve('.build/test/power-cuts/checker.js'), [JSON.stringify(options)], {
    env: { PATH: process.env.PATH },
    // WebAssembly is recompiled for each state, and does not run long enough to be worth optimizing.
    execArgv: ['--liftoff-only'],
    // PGlite prints the PostgreSQL log.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A checker exited with ${code} before its first state; does the trace exist?`);
  });
  await Promise.race([once(child, 'message'), ended]);
  return child;
}

/** Checks a state. A crash or a timeout of the process counts as a fault of the state. */
function checkState(child: ChildProcess, number: number): Promise<Outcome> {
  const began = performance.now();
  let progress = { title: 'not begun', step: 'begin' };
  return new Promise((resolve) => {
    const finish = (outcome: Outcome) => {
      clearTimeout(timer);
      child.off('exit', onExit).off('message', onMessage);
      resolve(outcome);
    };
    const fail = (fault: string) => {
      const state = { volatileEntries: 0, lostEntries: [], volatileChanges: 0, staleFiles: [] };
      finish({
        number,
        title: progress.title,
        faults: [`${progress.step}: ${fault}`],
        ms: performance.now() - began,
        factCount: 0,
        state,
      });
    };
    const onExit = (code: number | null, signal: string | null) => fail(`the process exited with ${code ?? signal}`);
    const onMessage = (message: { outcome: Outcome } | { title: string; step: string }) => {
      if ('outcome' in message) finish(message.outcome);
      else progress = message;
    };
    const timer = setTimeout(() => fail(`no outcome after ${CHECK_TIMEOUT_MS / 1000} s`), CHECK_TIMEOUT_MS);
    child.on('exit', onExit).on('message', onMessage);
    child.send(number);
  });
}
