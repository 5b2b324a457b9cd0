import type { Test } from 'tap';

/** A scope that releases its resources in teardowns: a test, or a command with the same method. */
export type Lifetime = Pick<Test, 'teardown'>;
