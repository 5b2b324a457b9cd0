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
    // Not registered with these values, because registration may be closed.
    const user = await users.register();
    const email = longestEmail(user.username);
    const password = ` ${users.newUser().password}${' z'.repeat(30)}\u212b `;
    await user.send(200, 'PUT /profiles/me', { form: { email, password, current_password: user.password } });
    const identity = { ...user, email, password };
    const { token } = (await users.login(identity)).body;
    return { ...identity, token: token as string };
  });

export type UnusualUser = Awaited<ReturnType<typeof unusualUser>>;
