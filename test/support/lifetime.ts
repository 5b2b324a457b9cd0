import type { Test } from 'tap';

/** The owner of resources, which releases them by teardowns: a test, or a command with the same method. */
export type Lifetime = Pick<Test, 'teardown'>;
