import type { TestUsers } from './users.js';

/** One statement of the contract, with a check over HTTP. */
export interface Rule {
  /** Parts separated by dots: `posts.list.order.feed`. An id never changes, even if the sentence is reworded. */
  id: string;
  /** The required behavior, understandable without other documents. */
  sentence: string;
  check(users: TestUsers): Promise<void>;
  /** Whether the rule is checked only with `--slow`. */
  slow?: boolean;
}

/** Rules that are checked one after the other, in this order, and may share users. */
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
