import { findFaults } from './check.js';
import type { Expected } from './facts.js';

/*
 * A process that starts a service on each data directory that it is sent, and checks it. It sends the name of each step, then
 * the faults. A bad state of the disk may crash or block it.
 */

export interface CheckRequest {
  dataDirectory: string;
  expected: readonly Expected[];
}

process.once('disconnect', () => process.exit());
process.on('message', async ({ dataDirectory, expected }: CheckRequest) => {
  const faults = await findFaults(dataDirectory, expected, (step) => process.send?.({ step }));
  process.send?.({ faults });
});
