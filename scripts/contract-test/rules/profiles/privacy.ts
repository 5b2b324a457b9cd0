import { expectEqual, fieldsOf } from '../../expect.js';
import { BRIEF_PROFILE_FIELDS, clearRelation, publish } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const privacyRules: Rule[] = [
  rule(
    'profiles.private.changes-visibility',
    'Setting private to true or false by PUT /profiles/me takes effect immediately.',
    async (users) => {
      const pia = await users.sharedUser('pia');
      const ada = await users.sharedUser('ada');
      await clearRelation(pia, ada);
      const post = await publish(pia);
      await pia.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
      await ada.send(404, `GET /posts/${post.id}`);
      const response = await ada.send(200, `GET /profiles/${pia.id}`);
      expectEqual(response, 'the fields', fieldsOf(response.body), BRIEF_PROFILE_FIELDS);
      await pia.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      await ada.send(200, `GET /posts/${post.id}`);
    },
  ),
];
