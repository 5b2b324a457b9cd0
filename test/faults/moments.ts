import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Failpoint } from '../../db/support/failpoints.js';
import { startProcess } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

/** The `time`-th time, from 1, that a moment is reached. */
export interface Deadly {
  moment: Failpoint;
  time: number;
}

/** By which a test and the service that it wants to die speak to each other. */
export const momentFiles = (directory: string) => ({
  reached: join(directory, 'reached'),
  deadly: join(directory, 'deadly'),
});

/** Starts services that note their moments, and die when they are told to. */
export async function mortalProcesses(t: Test) {
  const directory = await temporaryDirectory(t);
  const files = momentFiles(directory);

  const count = (deadly: Deadly | undefined) => {
    writeFileSync(files.reached, '');
    if (deadly) writeFileSync(files.deadly, JSON.stringify(deadly));
    else rmSync(files.deadly, { force: true });
  };

  /** Every moment since the count began, the first one first. */
  function reached(): Deadly[] {
    const times = new Map<string, number>();
    const moments = readFileSync(files.reached, 'utf8').split('\n').slice(0, -1) as Failpoint[];
    return moments.map((moment) => {
      const time = (times.get(moment) ?? 0) + 1;
      times.set(moment, time);
      return { moment, time };
    });
  }

  return {
    start(environment: NodeJS.ProcessEnv) {
      count(undefined);
      const helper = ['--import', './.build/test/faults/die-at-moment.js'];
      return startProcess(t, { ...environment, MOMENTS: directory }, helper);
    },
    /** Counts from now on, for the process to die. */
    count,
    reached,
    /** Whether it has come to that. */
    met: ({ moment, time }: Deadly) => reached().some((one) => one.moment === moment && one.time === time),
  };
}
