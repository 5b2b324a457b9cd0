import type { RequestContent } from '../../client/index.js';
import { expectEqual, expectProblemCodes, expectProblems } from '../../expect.js';
import { pngFile, WRONG_PASSWORD } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const piaRule = userRules('pia');

export const updateRules: Rule[] = [
  piaRule(
    'profiles.update.field-rules',
    'PUT /profiles/me validates name, username, email and password as POST /auth/register does. The 400 names every invalid field.',
    async ({ send }) => {
      const texts = { name: ' ', username: 'two words', email: 'none', password: 'weak', extra: 'x' };
      const form = { ...texts, private: 'maybe', image: pngFile(), remove_image: 'true' };
      const named = [...Object.keys(texts), 'current_password', 'private', 'remove_image'];
      expectProblems(await send(400, 'PUT /profiles/me', { form }), ...named.map((field) => `body.${field}`));
    },
  ),

  piaRule(
    'profiles.update.same-value',
    'PUT /profiles/me with the current value of a field returns 200, as does remove_image=true without a picture. The case of the username can be changed.',
    async ({ send }) => {
      const { name, username, email } = (await send(200, 'GET /auth/me')).body;
      for (const form of [{ name }, { username }, { username: username.toUpperCase() }, { username }, { email }]) {
        await send(200, 'PUT /profiles/me', { form });
        const response = await send(200, 'GET /auth/me');
        expectEqual(response, 'the account', response.body, { ...response.body, ...form });
      }
      await send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
    },
  ),

  piaRule(
    'profiles.update.nothing-to-change',
    'A profile update without a profile field or a picture change returns 400.',
    async ({ send, password: current_password }) => {
      for (const content of [
        {},
        { form: {} },
        { form: { remove_image: 'false' } },
        { form: { current_password } },
        { form: { current_password: WRONG_PASSWORD } },
        { form: { current_password, remove_image: 'FALSE' } },
      ] as RequestContent[]) {
        expectProblemCodes(await send(400, 'PUT /profiles/me', content), 'body. no_changes');
      }
    },
  ),

  piaRule(
    'profiles.update.booleans',
    'The field private of PUT /profiles/me is true or false, ignoring case; other values return 400.',
    async ({ send }) => {
      const update = (status: number, value: string) => send(status, 'PUT /profiles/me', { form: { private: value } });
      for (const value of ['True', 'FALSE']) {
        const response = await update(200, value);
        expectEqual(response, 'private', response.body.private, value === 'True');
      }
      for (const value of ['1', '0', 'yes', 'on', 'null', '', ' true', 'true ', 'tru\u0435']) {
        expectProblemCodes(await update(400, value), 'body.private not_a_boolean');
      }
    },
  ),
];
