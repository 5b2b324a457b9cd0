import type { TestUsers } from '../../users.js';
import { longestEmail } from './values.js';

/** Returns the user whose account the rules update. */
export const updatedUser = (users: TestUsers) => users.shared('updated user', users.register);

/**
 * Returns a user whose password changes under trimming, case folding and Unicode normalization and is longer than some hash
 * functions allow, and whose email has the maximum length.
 */
export const exactUser = (users: TestUsers) =>
  users.shared('user with an exact password', async () => {
    const newUser = users.newUser();
    const identity = { ...newUser, email: longestEmail(newUser.username) };
    const password = ` ${identity.password}${' z'.repeat(30)}\u212b `;
    const { body } = await users.anonymous.send(201, 'POST /auth/register', { json: { ...identity, password } });
    const { token } = (await users.login({ ...identity, password })).body;
    return { ...identity, password, id: body.id as number, token: token as string };
  });
