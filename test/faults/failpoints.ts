import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Failpoint } from '../../db/support/failpoints.js';
import { startProcess } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

/** One hit of a failpoint. The hits of each failpoint are numbered from 1. */
export interface FailpointHit {
  failpoint: Failpoint;
  hit: number;
}

/**
 * Returns the paths of the files by which a test and the service process communicate: `hits`, the log of failpoint hits, and
 * `target`, the `FailpointHit` at which the process kills itself, as JSON. Without this file, the process survives every hit.
 */
export const failpointFiles = (directory: string) => ({
  hits: join(directory, 'hits'),
  target: join(directory, 'target'),
});

/** Returns functions to start services that log their failpoint hits, and that kill themselves at a chosen one. */
export async function createCrashableProcesses(t: Test) {
  const directory = await temporaryDirectory(t);
  const files = failpointFiles(directory);

  const reset = (target: FailpointHit | undefined) => {
    writeFileSync(files.hits, '');
    if (target) writeFileSync(files.target, JSON.stringify(target));
    else rmSync(files.target, { force: true });
  };

  /** Returns all hits since the last reset, in order. */
  function recordedHits(): FailpointHit[] {
    const hits = new Map<string, number>();
    const failpoints = readFileSync(files.hits, 'utf8').split('\n').slice(0, -1) as Failpoint[];
    return failpoints.map((failpoint) => {
      const hit = (hits.get(failpoint) ?? 0) + 1;
      hits.set(failpoint, hit);
      return { failpoint, hit };
    });
  }

  return {
    start(environment: NodeJS.ProcessEnv) {
      reset(undefined);
      const preload = ['--import', './.build/test/faults/die-at-failpoint.js'];
      return startProcess(t, { ...environment, FAILPOINT_DIRECTORY: directory }, preload);
    },
    /** Resets the log and sets the hit at which the process dies, if any. */
    reset,
    recordedHits,
    /** Returns whether this hit occurred. */
    wasHit: ({ failpoint, hit }: FailpointHit) =>
      recordedHits().some((one) => one.failpoint === failpoint && one.hit === hit),
  };
}
