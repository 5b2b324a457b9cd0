import type { Test } from 'tap';

/** A test, reduced to the method that releases its resources when it ends. */
export type Lifetime = Pick<Test, 'teardown'>;
