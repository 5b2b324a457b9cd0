import type { TestUsers } from './users.js';

/** One sentence of the contract that can be checked from outside. */
export interface Rule {
  /** `<subject>.<operation or noun>.<aspect>`, which stays the same when the sentence is reworded. */
  id: string;
  /** What the service has to do, in words that need no other document. */
  sentence: string;
  check(cast: TestUsers): Promise<void>;
  /** Whether it takes so long that a run leaves it out unless it is asked for. */
  slow?: boolean;
}

/** Rules about one thing, which are checked one after the other: they may share people. */
export interface Subject {
  name: string;
  rules: Rule[];
}

export const rule = (id: string, sentence: string, check: Rule['check'], options: Pick<Rule, 'slow'> = {}): Rule => ({
  id,
  sentence,
  check,
  ...options,
});
