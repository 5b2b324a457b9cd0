import { expectEqual, expectThat, fieldsOf } from '../../expect.js';
import {
  BRIEF_PROFILE_FIELDS,
  clearRelation,
  FULL_PROFILE_FIELDS,
  findInFeed,
  makeFriends,
  png,
  privateProfile,
  publish,
} from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { expectRelation, includesId, pairRule } from './pairs.js';

export const friendshipRules: Rule[] = [
  pairRule(
    'friends.friendship.no-request-left',
    'Friends have no pending request: accept, decline and cancel return 404, and the users stay friends.',
    async (pair) => {
      await makeFriends(pair.one, pair.other);
      for (const [user, friend] of [
        [pair.one, pair.other],
        [pair.other, pair.one],
      ] as const) {
        for (const path of ['accept?from', 'decline?from', 'cancel?to']) {
          await user.send(404, `POST /friends/${path}=${friend.id}`);
        }
      }
      await expectRelation(pair, 'friends', 'friends');
    },
  ),

  pairRule(
    'friends.third-user',
    'A friendship and a request concern two users only: between either of them and a third user, accept, decline, cancel and remove return 404 and change nothing.',
    async ({ one, other }, users) => {
      const third = await users.sharedUser('ada');
      await makeFriends(one, other);
      await third.send(200, `POST /friends/request?to=${one.id}`);
      for (const [user, stranger] of [
        [third, other],
        [other, third],
      ] as const) {
        for (const path of ['accept?from', 'decline?from', 'cancel?to']) {
          await user.send(404, `POST /friends/${path}=${stranger.id}`);
        }
        await user.send(404, `DELETE /friends/remove?id=${stranger.id}`);
      }
      await expectRelation({ one, other }, 'friends', 'friends');
      await expectRelation({ one: third, other: one }, 'nothing', 'requested');
      await expectRelation({ one: third, other }, 'nothing', 'nothing');
      await clearRelation(third, one);
    },
  ),

  rule(
    'friends.list.fields',
    'GET /friends returns 200 and a list of {id, name, username, profile_link, private}.',
    async (users) => {
      const { friend, owner, picture } = await privateProfile(users);
      const response = await friend.send(200, 'GET /friends');
      const { id, name, username } = owner;
      const entry = response.body.find((one: { id: number }) => one.id === id);
      expectEqual(response, 'the entry', entry, { id, name, username, profile_link: picture, private: true });
    },
  ),

  rule(
    'friends.requests.incoming-only',
    'GET /friends/requests returns 200 and the pending incoming requests, without outgoing ones.',
    async (users) => {
      const { owner, requester, requested } = await privateProfile(users);
      const response = await owner.send(200, 'GET /friends/requests');
      expectThat(
        includesId(response, requester.id) && !includesId(response, requested.id),
        'the incoming request and not the outgoing one',
        response,
      );
    },
  ),

  rule(
    'friends.requests.fields',
    'An incoming request has the fields of GET /profiles/{id} for its sender: the full profile if the account is public, {id, name, username} if it is private.',
    async (users) => {
      const { owner, requester, requested } = await privateProfile(users);
      for (const [response, userId, fields] of [
        [await owner.send(200, 'GET /friends/requests'), requester.id, FULL_PROFILE_FIELDS],
        [await requested.send(200, 'GET /friends/requests'), owner.id, BRIEF_PROFILE_FIELDS],
      ] as const) {
        expectEqual(
          response,
          'the fields',
          fieldsOf(response.body.find((entry: { id: number }) => entry.id === userId)),
          fields,
        );
      }
    },
  ),

  pairRule(
    'friends.friendship.changes-visibility',
    'The posts, images and full profile of a private account are visible to a friend from the moment the friendship begins until it ends. A request does not make them visible.',
    async ({ one, other }) => {
      const form = { private: 'true', image: png() };
      const picture: string = (await one.send(200, 'PUT /profiles/me', { form })).body.profile_link;
      const { id, image } = await publish(one, { image: png() });
      for (const [user, request, visible] of [
        [other, `POST /friends/request?to=${one.id}`, false],
        [one, `POST /friends/decline?from=${other.id}`, false],
        [other, `POST /friends/request?to=${one.id}`, false],
        [other, `POST /friends/cancel?to=${one.id}`, false],
        [other, `POST /create_relationship?me=${other.id}&them=${one.id}`, false],
        [one, `POST /friends/accept?from=${other.id}`, true],
        [other, `DELETE /friends/remove?id=${one.id}`, false],
        [one, `POST /friends/request?to=${other.id}`, false],
        [other, `POST /friends/accept?from=${one.id}`, true],
        [one, `DELETE /friends/remove?id=${other.id}`, false],
      ] as const) {
        await user.send(200, request);
        for (const path of [`/posts/${id}`, image, picture]) await other.send(visible ? 200 : 404, `GET ${path}`);
        const profile = await other.send(200, `GET /profiles/${one.id}`);
        expectEqual(
          profile,
          `a ${visible ? 'full' : 'brief'} profile after ${request}`,
          'private' in profile.body,
          visible,
        );
        const { found, response } = await findInFeed(other, { id }, 100);
        expectEqual(response, `the post in the feed after ${request}`, found, visible);
      }
      await one.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
    },
  ),
];
