import { expectEqual } from '../../expect.js';
import { addContent, clearRelation, findInFeed, makeFriends } from '../../fixtures.js';
import type { Rule } from '../../rule.js';
import { expectRelation, type PairRequest, pairRule, sendInOrder } from './pairs.js';

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
