import { type DatabaseNotOpenedError, startWorker } from './server.js';

/*
 * The process that creates the database in the directory that its argument names. It takes up to 500 MB. Of a thread, the C
 * library would keep 100 MB; a process returns everything to the system.
 *
 * PostgreSQL runs in a thread here too, so that this process can end as soon as the service ends.
 */

process.once('disconnect', () => process.exit(1));

const failure = await startWorker({ directory: process.argv[2] ?? '', create: true }).then(
  () => undefined,
  ({ reason }: DatabaseNotOpenedError) => reason,
);
if (failure === undefined) process.exit(0);
process.send?.(failure, () => process.exit(1));
