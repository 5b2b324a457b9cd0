import type { RequestContent } from '../../exchange.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat, fieldsOf } from '../../expect.js';
import {
  BRIEF_PROFILE_FIELDS,
  clearRelation,
  FULL_PROFILE_FIELDS,
  findInFeed,
  pngFile,
  publish,
  WRONG_PASSWORD,
} from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { userRules } from '../user-rule.js';

const piaRule = userRules('pia');

export const updateRules: Rule[] = [
  piaRule(
    'profiles.update.changes-sent-fields',
    'PUT /profiles/me changes the fields that are sent and leaves the others unchanged.',
    async ({ send }, users) => {
      const before = await send(200, 'GET /profiles/me');
      const { username } = users.newUser();
      const response = await send(200, 'PUT /profiles/me', { form: { username } });
      expectEqual(response, 'the profile', response.body, { ...before.body, username });
      expectEqual(response, 'the account', (await send(200, 'GET /auth/me')).body.username, username);
    },
  ),

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
    'profiles.update.email-is-normalized',
    'The email of a profile update is trimmed and lowercased before it is checked.',
    async ({ send }, users) => {
      const { email } = users.newUser();
      await send(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
      const response = await send(200, 'GET /auth/me');
      expectEqual(response, 'the email', response.body.email, email);
    },
  ),

  piaRule(
    'profiles.update.names-in-use',
    'PUT /profiles/me returns 409 if the username or email is taken.',
    async ({ send }, users) => {
      const { username, email } = await users.sharedUser('ada');
      await send(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
      await send(409, 'PUT /profiles/me', { form: { email } });
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

  piaRule(
    'profiles.update.replaces-picture',
    'An image in a profile update replaces the picture; the old picture returns 404.',
    async ({ send }) => {
      const first = (await send(200, 'PUT /profiles/me', { form: { image: pngFile() } })).body.profile_link;
      const second = (await send(200, 'PUT /profiles/me', { form: { image: pngFile() } })).body.profile_link;
      expectThat(first !== second, 'a new path for the new picture', await send(200, `GET ${second}`));
      await send(404, `GET ${first}`);
    },
  ),

  piaRule(
    'profiles.update.removes-picture',
    'remove_image=true in a profile update removes the picture, which then returns 404.',
    async ({ send }) => {
      const link = (await send(200, 'PUT /profiles/me', { form: { image: pngFile() } })).body.profile_link;
      const response = await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
      expectEqual(response, 'profile_link', response.body.profile_link, null);
      await send(404, `GET ${link}`);
    },
  ),

  piaRule(
    'profiles.update.image-and-remove-image',
    'An image together with remove_image=true in a profile update returns 400.',
    async ({ send }) => {
      const form = { image: pngFile(), remove_image: 'true' };
      expectProblemCodes(await send(400, 'PUT /profiles/me', { form }), 'body.remove_image conflicting_fields');
    },
  ),

  piaRule(
    'profiles.private.changes-visibility',
    'Setting private to true or false with PUT /profiles/me takes effect immediately for the profile, its picture, posts, their images and the feed.',
    async (pia, users) => {
      const ada = await users.sharedUser('ada');
      await clearRelation(pia, ada);
      const post = await publish(pia, { image: pngFile() });
      const picture = (await pia.send(200, 'PUT /profiles/me', { form: { image: pngFile() } })).body.profile_link;
      for (const value of ['false', 'true', 'false']) {
        await pia.send(200, 'PUT /profiles/me', { form: { private: value } });
        const isPublic = value === 'false';
        for (const path of [`/posts/${post.id}`, post.image, picture])
          await ada.send(isPublic ? 200 : 404, `GET ${path}`);
        const profile = await ada.send(200, `GET /profiles/${pia.id}`);
        const fields = isPublic ? FULL_PROFILE_FIELDS : BRIEF_PROFILE_FIELDS;
        expectEqual(profile, 'the fields', fieldsOf(profile.body), fields);
        const { found, response } = await findInFeed(ada, post, 20);
        expectEqual(response, 'whether the feed has the post', found, isPublic);
      }
    },
  ),
];
