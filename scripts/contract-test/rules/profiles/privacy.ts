import { expectEqual, fieldsOf } from '../../expect.js';
import { BRIEF_PROFILE_FIELDS, clearRelation, FULL_PROFILE_FIELDS, findInFeed, png, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const privacyRules: Rule[] = [
  rule(
    'profiles.private.changes-visibility',
    'Setting private to true or false with PUT /profiles/me takes effect immediately for the profile, its picture, posts, their images and the feed.',
    async (users) => {
      const pia = await users.sharedUser('pia');
      const ada = await users.sharedUser('ada');
      await clearRelation(pia, ada);
      const post = await publish(pia, { image: png() });
      const form = { image: png() };
      const picture: string = (await pia.send(200, 'PUT /profiles/me', { form })).body.profile_link;
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
