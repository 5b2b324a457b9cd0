import { expectEqual, expectProblems } from '../../expect.js';
import { UNUSED_ID } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { expectRelation, pairRule, sendInOrder } from './pairs.js';

export const relationshipRules: Rule[] = [
  pairRule(
    'relationships.create.is-a-request',
    'POST /create_relationship sends a friend request, as POST /friends/request does; it never makes two users friends without the other’s consent.',
    async (pair) => {
      await sendInOrder(pair, 'one relates 200');
      await expectRelation(pair, 'requested by one');
      await sendInOrder(pair, 'other relates 409 request_already_received');
      await expectRelation(pair, 'requested by one');
      await sendInOrder(pair, 'other accepts 200');
      await expectRelation(pair, 'friends');
    },
  ),

  pairRule(
    'relationships.create.conditions',
    'POST /create_relationship returns 409 for friends and for an existing request, and 404 for an unknown user.',
    async (pair) => {
      await pair.one.send(404, `POST /create_relationship?me=${pair.one.id}&them=${UNUSED_ID}`);
      await sendInOrder(pair, 'one requests 200', 'one relates 409 request_already_sent');
      await sendInOrder(pair, 'other accepts 200', 'one relates 409 already_friends');
    },
  ),

  pairRule(
    'relationships.create.me',
    'POST /create_relationship returns 403 if the parameter me is not the authenticated user. The ids are validated before this check and looked up after it, so the body of the 403 is the same for missing and existing users.',
    async ({ one, other }) => {
      const path = 'POST /create_relationship?';
      const rejected = [];
      for (const [me, them] of [
        [other.id, UNUSED_ID],
        [other.id, one.id],
        [other.id, other.id],
        [UNUSED_ID, other.id],
      ])
        rejected.push(await one.send(403, `${path}me=${me}&them=${them}`));
      for (const response of rejected) expectEqual(response, 'the body', response.body, rejected[0]?.body);
      expectProblems(await one.send(400, `${path}me=${other.id}&them=0`), 'query.them');
      expectProblems(await one.send(400, `${path}me=${other.id}&them=${one.id}&kind=x`), 'query.kind');
      await one.send(400, `${path}me=${other.id}&them=${one.id}`, { json: { them: one.id } });
      await expectRelation({ one, other }, 'none');
    },
  ),
];
