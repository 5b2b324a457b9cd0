import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything takes that tests wait for, also on a busy machine. */
const MAX_WAIT_MS = 240_000;

/** Waits until a condition holds. @throws Error that quotes the condition, after `MAX_WAIT_MS` */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${MAX_WAIT_MS / 1000} s in vain for ${condition}`);
    await sleep(10);
  }
}
