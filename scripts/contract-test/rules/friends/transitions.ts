import { makeFriends } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { expectRelation, pairRule } from './pairs.js';

export const transitionRules: Rule[] = [
  pairRule(
    'friends.request.creates-pending',
    'POST /friends/request?to=<id> between users without a relation returns 200 and creates a pending request, which the other user sees.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.accept.makes-friends',
    'POST /friends/accept?from=<id> for a pending request returns 200 and makes the two users friends, in both directions.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.send(200, `POST /friends/accept?from=${pair.one.id}`);
      await expectRelation(pair, 'friends', 'friends');
    },
  ),

  pairRule(
    'friends.decline.removes-request',
    'POST /friends/decline?from=<id> for a pending request returns 200 and removes the request; the users have no relation.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.send(200, `POST /friends/decline?from=${pair.one.id}`);
      await expectRelation(pair, 'nothing', 'nothing');
      await pair.other.send(404, `POST /friends/accept?from=${pair.one.id}`);
    },
  ),

  pairRule(
    'friends.cancel.removes-request',
    'POST /friends/cancel?to=<id> for an outgoing request returns 200 and removes the request; the users have no relation.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.send(200, `POST /friends/cancel?to=${pair.other.id}`);
      await expectRelation(pair, 'nothing', 'nothing');
      await pair.other.send(404, `POST /friends/accept?from=${pair.one.id}`);
    },
  ),

  pairRule(
    'friends.remove.ends-friendship',
    'DELETE /friends/remove?id=<id> by either of two friends returns 200 and ends the friendship for both.',
    async (pair) => {
      for (const [remover, friend] of [
        [pair.one, pair.other],
        [pair.other, pair.one],
      ] as const) {
        await makeFriends(pair.one, pair.other);
        await remover.send(200, `DELETE /friends/remove?id=${friend.id}`);
        await expectRelation(pair, 'nothing', 'nothing');
      }
    },
  ),
];
