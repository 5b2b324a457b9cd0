import { expectCode, expectProblemCodes } from '../../expect.js';
import { makeFriends, UNUSED_ID } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { expectRelation, pairRule } from './pairs.js';

export const refusalRules: Rule[] = [
  pairRule(
    'friends.request.exists',
    'POST /friends/request returns 409 request_already_sent if a request to that user exists.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      expectCode(await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`), 'request_already_sent');
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.request.crossed',
    'A friend request to a user whose own request is pending returns 409 request_already_received, and the users do not become friends.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      expectCode(await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`), 'request_already_received');
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.request.already-friends',
    'POST /friends/request returns 409 already_friends if the two users are already friends.',
    async (pair) => {
      await makeFriends(pair.one, pair.other);
      expectCode(await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`), 'already_friends');
      expectCode(await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`), 'already_friends');
      await expectRelation(pair, 'friends', 'friends');
    },
  ),

  rule('friends.request.unknown-user', 'POST /friends/request returns 404 if the user is not found.', async (users) => {
    await (await users.sharedUser('flo')).send(404, `POST /friends/request?to=${UNUSED_ID}`);
  }),

  rule('friends.request.self', 'A friend request to oneself returns 400.', async (users) => {
    const { id, send } = await users.sharedUser('flo');
    expectProblemCodes(await send(400, `POST /friends/request?to=${id}`), 'query.to own_id');
  }),

  pairRule(
    'friends.accept.no-request',
    'POST /friends/accept returns 404 if there is no pending request from that user.',
    async (pair) => {
      await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
      await expectRelation(pair, 'nothing', 'nothing');
    },
  ),

  pairRule(
    'friends.accept.own-request',
    'A user cannot accept a request that they sent: POST /friends/accept returns 404.',
    async (pair) => {
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.decline.no-request',
    'POST /friends/decline returns 404 if there is no pending request from that user.',
    async (pair) => {
      await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.cancel.no-request',
    'POST /friends/cancel returns 404 if there is no outgoing request to that user.',
    async (pair) => {
      await pair.one.send(404, `POST /friends/cancel?to=${pair.other.id}`);
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.send(404, `POST /friends/cancel?to=${pair.one.id}`);
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),

  pairRule(
    'friends.remove.not-a-friend',
    'DELETE /friends/remove returns 404 if the user is not a friend.',
    async (pair) => {
      await pair.one.send(404, `DELETE /friends/remove?id=${pair.other.id}`);
      await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.send(404, `DELETE /friends/remove?id=${pair.other.id}`);
      await pair.other.send(404, `DELETE /friends/remove?id=${pair.one.id}`);
      await expectRelation(pair, 'nothing', 'requested');
    },
  ),
];
