import type { Test } from 'tap';

/** Ends resources by teardowns: a test, or a command that registers teardowns in the same way. */
export type Lifetime = Pick<Test, 'teardown'>;
