import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds. The timeout of the test is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10);
}
