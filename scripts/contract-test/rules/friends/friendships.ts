import { expectEqual, expectThat, fieldsOf } from '../../expect.js';
import {
  addContent,
  BRIEF_PROFILE_FIELDS,
  clearRelation,
  FULL_PROFILE_FIELDS,
  findInFeed,
  makeFriends,
  privateProfile,
} from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { expectRelation, includesId, type PairRequest, pairRule, sendInOrder } from './pairs.js';

export const friendshipRules: Rule[] = [
  pairRule(
    'friends.third-user',
    'A friendship and a request concern two users only: between either of them and a third user, accept, decline, cancel and remove return 404 and change nothing.',
    async ({ one, other }, users) => {
      const third = await users.sharedUser('ada');
      await makeFriends(one, other);
      await third.send(200, `POST /friends/request?to=${one.id}`);
      const strangers = { one: third, other };
      await sendInOrder(strangers, 'one accepts 404', 'one declines 404', 'one cancels 404', 'one removes 404');
      await sendInOrder(strangers, 'other accepts 404', 'other declines 404', 'other cancels 404', 'other removes 404');
      await expectRelation({ one, other }, 'friends');
      await expectRelation({ one: third, other: one }, 'requested by one');
      await expectRelation(strangers, 'none');
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
      expectThat(includesId(response, requester.id), 'the incoming request', response);
      expectThat(!includesId(response, requested.id), 'no outgoing request', response);
    },
  ),

  rule(
    'friends.requests.fields',
    'An incoming request has the fields of GET /profiles/{id} for its sender: the full profile if the account is public, {id, name, username} if it is private.',
    async (users) => {
      const { owner, requester, requested } = await privateProfile(users);
      for (const [receiver, sender, fields] of [
        [owner, requester, FULL_PROFILE_FIELDS],
        [requested, owner, BRIEF_PROFILE_FIELDS],
      ] as const) {
        const response = await receiver.send(200, 'GET /friends/requests');
        const entry = response.body.find(({ id }: { id: number }) => id === sender.id);
        expectEqual(response, 'the fields', fieldsOf(entry), fields);
      }
    },
  ),

  pairRule(
    'friends.friendship.changes-visibility',
    'The posts, images and full profile of a private account are visible to a friend from the moment the friendship begins until it ends. A request does not make them visible.',
    async (pair) => {
      const { one, other } = pair;
      const { post, picture } = await addContent(one, true);
      for (const [request, visible] of [
        ['other requests', false],
        ['one declines', false],
        ['other requests', false],
        ['other cancels', false],
        ['other relates', false],
        ['one accepts', true],
        ['other removes', false],
        ['one requests', false],
        ['other accepts', true],
        ['one removes', false],
      ] as [PairRequest, boolean][]) {
        await sendInOrder(pair, `${request} 200`);
        for (const path of [`/posts/${post.id}`, post.image, picture])
          await other.send(visible ? 200 : 404, `GET ${path}`);
        const profile = await other.send(200, `GET /profiles/${one.id}`);
        expectEqual(profile, `a full profile after ${request}`, 'private' in profile.body, visible);
        const { found, response } = await findInFeed(other, post, 100);
        expectEqual(response, `the post in the feed after ${request}`, found, visible);
      }
      await one.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
    },
  ),
];
