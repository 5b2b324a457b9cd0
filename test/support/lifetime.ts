import type { Test } from 'tap';

/** What a resource's end is tied to: a test, or a run of a command that registers teardowns in the same way. */
export type Lifetime = Pick<Test, 'teardown'>;
