import { expectEqual, expectThat, fieldsOf } from '../../expect.js';
import { FULL_PROFILE_FIELDS, publicProfile } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const adaRule = userRules('ada');

export const readRules: Rule[] = [
  adaRule(
    'profiles.get-own.fields',
    'GET /profiles/me returns 200 {id, name, username, profile_link, private} of the authenticated user.',
    async ({ send, id, username }) => {
      const response = await send(200, 'GET /profiles/me');
      expectEqual(response, 'the fields', fieldsOf(response.body), FULL_PROFILE_FIELDS);
      expectEqual(response, 'id and username', [response.body.id, response.body.username], [id, username]);
    },
  ),

  rule(
    'profiles.get.fields',
    'GET /profiles/{id} of a public account returns 200 {id, name, username, profile_link, private}.',
    async (users) => {
      const { owner, visitor, picture: profile_link } = await publicProfile(users);
      const { id, name, username } = owner;
      const response = await visitor.send(200, `GET /profiles/${id}`);
      expectEqual(response, 'the profile', response.body, { id, name, username, profile_link, private: false });
    },
  ),

  rule('profiles.get.no-email', 'Profile routes never expose the email address.', async (users) => {
    const { owner, visitor } = await publicProfile(users);
    for (const response of [
      await visitor.send(200, `GET /profiles/${owner.id}`),
      await owner.send(200, 'GET /profiles/me'),
      await owner.send(200, 'PUT /profiles/me', { form: { private: 'false' } }),
    ]) {
      expectThat(!response.bytes.toString().includes(owner.email), 'no email address', response);
    }
  }),

  adaRule('profiles.private.default', 'A new account has private=false and no picture.', async ({ send }) => {
    const response = await send(200, 'GET /profiles/me');
    expectEqual(response, 'private', response.body.private, false);
    expectEqual(response, 'profile_link', response.body.profile_link, null);
  }),
];
