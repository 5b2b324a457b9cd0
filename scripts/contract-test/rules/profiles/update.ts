import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { png, WRONG_PASSWORD } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const updateRules: Rule[] = [
  rule(
    'profiles.update.changes-sent-fields',
    'PUT /profiles/me changes the fields that are sent and leaves the others unchanged.',
    async (users) => {
      const pia = await users.sharedUser('pia');
      const before = await pia.send(200, 'GET /profiles/me');
      const { username } = users.newUser();
      const response = await pia.send(200, 'PUT /profiles/me', { form: { username } });
      expectEqual(response, 'the profile', response.body, { ...before.body, username });
      expectEqual(response, 'the account', (await pia.send(200, 'GET /auth/me')).body.username, username);
    },
  ),

  rule(
    'profiles.update.field-rules',
    'PUT /profiles/me validates name, username, email and password as POST /auth/register does. The 400 names every invalid field.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const texts = { name: ' ', username: 'two words', email: 'none', password: 'weak', extra: 'x' };
      const form = { ...texts, private: 'maybe', image: png(), remove_image: 'true' };
      const named = [...Object.keys(texts), 'current_password', 'private', 'remove_image'];
      expectProblems(await send(400, 'PUT /profiles/me', { form }), ...named.map((field) => `body.${field}`));
    },
  ),

  rule(
    'profiles.update.email-is-normalized',
    'The email of a profile update is trimmed and lowercased before it is checked.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const { email } = users.newUser();
      await send(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
      const response = await send(200, 'GET /auth/me');
      expectEqual(response, 'the email', response.body.email, email);
    },
  ),

  rule(
    'profiles.update.names-in-use',
    'PUT /profiles/me returns 409 if the username or email is taken.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const { username, email } = await users.sharedUser('ada');
      await send(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
      await send(409, 'PUT /profiles/me', { form: { email } });
    },
  ),

  rule(
    'profiles.update.same-value',
    'PUT /profiles/me with the current value of a field returns 200, as does remove_image=true without a picture. The case of the username can be changed.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
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

  rule(
    'profiles.update.nothing-to-change',
    'A profile update without a profile field or a picture change returns 400.',
    async (users) => {
      const { send, password: current_password } = await users.sharedUser('pia');
      for (const form of [
        {},
        { remove_image: 'false' },
        { current_password: WRONG_PASSWORD },
        { current_password, remove_image: 'FALSE' },
      ] as Record<string, string>[]) {
        expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body. no_changes');
      }
      expectProblemCodes(await send(400, 'PUT /profiles/me'), 'body. no_changes');
    },
  ),

  rule(
    'profiles.update.booleans',
    'The field private of PUT /profiles/me is true or false, ignoring case; other values return 400.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      for (const [value, stored] of [
        ['True', true],
        ['FALSE', false],
      ] as const) {
        const response = await send(200, 'PUT /profiles/me', { form: { private: value } });
        expectEqual(response, 'private', response.body.private, stored);
      }
      for (const value of ['1', '0', 'yes', 'on', 'null', '', ' true', 'true ', 'tru\u0435']) {
        expectProblemCodes(
          await send(400, 'PUT /profiles/me', { form: { private: value } }),
          'body.private not_a_boolean',
        );
      }
    },
  ),

  rule(
    'profiles.update.replaces-picture',
    'An image in a profile update replaces the picture; the old picture returns 404.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const first = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      const second = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      expectThat(first !== second, 'a new path for the new picture', await send(200, `GET ${second}`));
      await send(404, `GET ${first}`);
    },
  ),

  rule(
    'profiles.update.removes-picture',
    'remove_image=true in a profile update removes the picture, which then returns 404.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const link = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      const response = await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
      expectEqual(response, 'profile_link', response.body.profile_link, null);
      await send(404, `GET ${link}`);
    },
  ),

  rule(
    'profiles.update.image-and-remove-image',
    'An image together with remove_image=true in a profile update returns 400.',
    async (users) => {
      const { send } = await users.sharedUser('pia');
      const form = { image: png(), remove_image: 'true' };
      expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body.remove_image conflicting_fields');
    },
  ),
];
