import { expectEqual, type FieldProblem } from '../../expect.js';
import type { User } from '../../users.js';
import { userRules } from '../user-rule.js';

/** Creates a rule whose check gets a user whom only the rules about passwords use. */
export const passwordRule = userRules('passwords');

/**
 * Checks the problems of a new password. Sends it in an update, which does not count against the strict rate limit. Two other
 * fields are invalid and prevent the change, even if the service accepts one of them.
 */
export async function expectPasswordProblems(
  { send, password: current_password }: User,
  form: Record<string, string>,
  ...codes: string[]
) {
  const response = await send(400, 'PUT /profiles/me', {
    form: { ...form, current_password, name: ' ', private: 'maybe' },
  });
  const problems: FieldProblem[] = response.body.errors ?? [];
  const found = problems.filter(({ field }) => field === 'password').map(({ code }) => code);
  expectEqual(response, 'the problems of the password', found.sort(), codes.sort());
}
