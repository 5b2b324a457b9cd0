import { expectCode, expectEqual, expectProblemCodes, expectThat } from '../../expect.js';
import { idsOf, makeFriends, pngFile, publish, WRONG_PASSWORD } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { startSession } from '../session.js';
import { userRules } from '../user-rule.js';

const piaRule = userRules('pia');

/**
 * Returns a deleted account. It was private, with a picture, several posts, a like, a friend, friend requests in both directions
 * and a second session.
 */
const deletedAccount = (users: TestUsers) =>
  users.shared('deleted account', async () => {
    const deleted = await users.register();
    const [friend, requester] = [await users.sharedUser('ben'), await users.sharedUser('ada')];
    const requested = await users.sharedUser('cleo');
    const form = { private: 'true', image: pngFile() };
    const picture: string = (await deleted.send(200, 'PUT /profiles/me', { form })).body.profile_link;
    const { id, image } = await publish(deleted, { image: pngFile() });
    const postIds = [id];
    // The posts do not fit on one page of a list.
    while (postIds.length < 21) postIds.push((await publish(deleted)).id);
    const liked = await publish(friend);
    await deleted.send(200, `POST /posts/like?id=${liked.id}`);
    await makeFriends(deleted, friend);
    await requester.send(200, `POST /friends/request?to=${deleted.id}`);
    await deleted.send(200, `POST /friends/request?to=${requested.id}`);
    // A service may cache sessions that were used.
    const otherSession = await startSession(users, deleted);
    await otherSession.send(200, 'GET /auth/me');
    await deleted.send(200, 'DELETE /profiles/me', { json: { password: deleted.password } });
    return { deleted, otherSession, friend, requester, requested, image, picture, postIds, likedPostId: liked.id };
  });

export const accountDeletionRules: Rule[] = [
  piaRule(
    'accounts.delete.fields',
    'DELETE /profiles/me requires password and accepts no other field.',
    async ({ send }) => {
      const json = { password: WRONG_PASSWORD, reason: 'none' };
      expectProblemCodes(await send(400, 'DELETE /profiles/me', { json }), 'body.reason unknown_field');
      expectProblemCodes(await send(400, 'DELETE /profiles/me'), 'body.password required');
      for (const password of [null, ['x']]) {
        const response = await send(400, 'DELETE /profiles/me', { json: { password } });
        expectProblemCodes(response, 'body.password not_a_string');
      }
    },
  ),

  // After the other rules of this user: if the service accepts a wrong password, the account is deleted.
  piaRule(
    'accounts.delete.wrong-password',
    'DELETE /profiles/me returns 401 invalid_password with the message “Invalid password” if the password is wrong. Whitespace is significant.',
    async ({ send, password }) => {
      for (const wrong of [WRONG_PASSWORD, ` ${password}`]) {
        const response = await send(401, 'DELETE /profiles/me', { json: { password: wrong } });
        expectCode(response, 'invalid_password');
        expectEqual(response, 'the message', response.body.message, 'Invalid password');
        expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), 'Bearer');
      }
      await send(200, 'GET /auth/me');
    },
  ),

  rule(
    'accounts.delete.account',
    'Account deletion ends all sessions of the account. Then a login returns 401, and GET of its profile returns 404.',
    async (users) => {
      const { deleted, otherSession, friend } = await deletedAccount(users);
      for (const { send } of [deleted, otherSession]) await send(401, 'GET /auth/me');
      const { email, password } = deleted;
      await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
      await friend.send(404, `GET /profiles/${deleted.id}`);
    },
  ),

  rule('accounts.delete.posts', 'Account deletion removes the posts of the account.', async (users) => {
    const { deleted, friend, postIds } = await deletedAccount(users);
    for (const id of postIds) await friend.send(404, `GET /posts/${id}`);
    await friend.send(404, `POST /posts/like?id=${postIds[0]}`);
    const response = await friend.send(200, 'GET /posts?limit=100');
    const authors = response.body.map(({ author_id }: { author_id: number }) => author_id);
    expectThat(!authors.includes(deleted.id), 'no post of a deleted account in the feed', response);
  }),

  rule(
    'accounts.delete.images',
    'Account deletion removes the images and the profile picture of the account.',
    async (users) => {
      const { friend, image, picture } = await deletedAccount(users);
      for (const path of [image, picture]) await friend.send(404, `GET ${path}`);
    },
  ),

  rule('accounts.delete.likes', 'Account deletion removes the likes of the account.', async (users) => {
    const { friend, likedPostId } = await deletedAccount(users);
    const response = await friend.send(200, `GET /posts/${likedPostId}`);
    expectEqual(response, 'like_count', response.body.like_count, 0);
  }),

  rule(
    'accounts.delete.friendships',
    'Account deletion removes the friendships and the friend requests of the account. Friend operations with its id return 404.',
    async (users) => {
      const { deleted, friend, requester, requested } = await deletedAccount(users);
      for (const { send } of [friend, requester, requested]) {
        for (const path of ['/friends', '/friends/requests']) {
          const response = await send(200, `GET ${path}`);
          expectThat(!idsOf(response.body).includes(deleted.id), 'no deleted account', response);
        }
        for (const path of ['request?to', 'accept?from', 'decline?from', 'cancel?to']) {
          await send(404, `POST /friends/${path}=${deleted.id}`);
        }
        await send(404, `DELETE /friends/remove?id=${deleted.id}`);
      }
    },
  ),

  rule(
    'accounts.delete.frees-names',
    'After an account deletion, the username and the email can be registered again.',
    async (users) => {
      const { deleted } = await deletedAccount(users);
      const { name, username, email, password } = deleted;
      const json = { name, username, email, password };
      const response = await users.anonymous.send(201, 'POST /auth/register', { json });
      expectThat(response.body.id !== deleted.id, 'a new id', response);
    },
  ),
];
