import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import type { CheckRequest } from './check.js';

const CHECK_TIMEOUT_MS = 180_000;

/** A checker is replaced after this many states, because PGlite does not free its memory. */
const STATES_PER_CHECKER = 20;

interface Checker {
  child: ChildProcess;
  stateCount: number;
}

/** Started checkers that are not in use. They are reused, because a start costs as much processor time as a check. */
const idle: Checker[] = [];

function startChecker(): Checker {
  const child = fork(resolve('.build/test/power-cuts/check.js'), {
    env: { PATH: process.env.PATH },
    // WebAssembly is recompiled for each state, and does not run long enough to be worth optimizing.
    execArgv: ['--liftoff-only'],
    // PGlite prints the PostgreSQL log.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return { child, stateCount: 0 };
}

/** Returns the faults that a separate process finds. A crash or a timeout of the process is a fault too. */
export async function findFaultsInProcess(request: CheckRequest): Promise<string[]> {
  const checker = idle.pop() ?? startChecker();
  const { child } = checker;
  const timer = setTimeout(() => child.kill('SIGKILL'), CHECK_TIMEOUT_MS);
  const faults = await new Promise<string[]>((resolve) => {
    let step = 'begin';
    child.on('message', (message: { step: string } | { faults: string[] }) => {
      if ('step' in message) step = message.step;
      else resolve(message.faults);
    });
    child.on('exit', (code, signal) => resolve([`${step}: the process exited with ${code ?? signal}`]));
    child.send(request);
  });
  clearTimeout(timer);
  child.removeAllListeners('message').removeAllListeners('exit');
  checker.stateCount += 1;
  // A service that failed to start may have left files or ports open.
  if (faults.length > 0 || checker.stateCount === STATES_PER_CHECKER) child.kill('SIGKILL');
  else idle.push(checker);
  return faults;
}

export function stopCheckers(): void {
  for (const { child } of idle.splice(0)) child.kill('SIGKILL');
}
