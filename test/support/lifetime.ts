import type { Test } from 'tap';

/** A scope that releases its resources in teardowns: a test, or an object of a command with the same method. */
export type Lifetime = Pick<Test, 'teardown'>;
