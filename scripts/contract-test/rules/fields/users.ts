import type { TestUsers } from '../../users.js';
import { longestEmail } from './values.js';

/** Returns the user whose account the rules update. */
export const updatedUser = (users: TestUsers) => users.shared('updated user', users.register);

/**
 * Returns a user whose password changes under trimming, case folding and Unicode normalization and is longer than some hash
 * functions allow, and whose email has the maximum length.
 */
export const unusualUser = (users: TestUsers) =>
  users.shared('user with an unusual password', async () => {
    const newUser = users.newUser();
    const email = longestEmail(newUser.username);
    const password = ` ${newUser.password}${' z'.repeat(30)}\u212b `;
    const identity = { ...newUser, email, password };
    await users.anonymous.send(201, 'POST /auth/register', { json: identity });
    const { token } = (await users.login(identity)).body;
    return { ...identity, token: token as string };
  });

export type UnusualUser = Awaited<ReturnType<typeof unusualUser>>;
