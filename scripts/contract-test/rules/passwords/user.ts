import { expectProblemCodes } from '../../expect.js';
import type { User } from '../../users.js';
import { userRules } from '../user-rule.js';

/** Creates a rule whose check gets a user whom only the rules about passwords use. */
export const passwordRule = userRules('passwords');

/**
 * Checks the problems of a new password. Sends it in an update, which does not count against the strict rate limit. Two
 * invalid fields prevent the change, even if the service accepts one of them.
 */
export async function expectPasswordProblems(
  { send, password: current_password }: User,
  form: Record<string, string>,
  ...codes: string[]
) {
  const invalid = { current_password, name: ' ', private: 'maybe' };
  const response = await send(400, 'PUT /profiles/me', { form: { ...form, ...invalid } });
  const problems = codes.map((code) => `body.password ${code}`);
  expectProblemCodes(response, ...problems, 'body.name blank', 'body.private not_a_boolean');
}
