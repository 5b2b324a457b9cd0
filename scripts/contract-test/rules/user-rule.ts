import { type Rule, rule } from '../rule.js';
import type { TestUsers, User } from '../users.js';

/** Returns a function that creates rules whose checks get the shared user with this key. */
export const userRules =
  (key: string) =>
  (id: string, sentence: string, check: (user: User, users: TestUsers) => Promise<void>): Rule =>
    rule(id, sentence, async (users) => check(await users.sharedUser(key), users));
