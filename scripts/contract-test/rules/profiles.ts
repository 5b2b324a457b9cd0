import { expectClearedCookie, expectEqual, expectProblems, expectThat, fieldsOf } from '../expect.js';
import {
  BRIEF_PROFILE_FIELDS,
  clearRelation,
  FULL_PROFILE_FIELDS,
  idsOf,
  makeFriends,
  png,
  publicProfile,
  publish,
  UNUSED_ID,
  WRONG_PASSWORD,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

interface DeletedAccount {
  deleted: User;
  friend: User;
  requester: User;
  requested: User;
  image: string;
  picture: string;
  postId: number;
  likedPostId: number;
}

/** Deletes a new account that has a picture, a post, a like, a friend and friend requests in both directions. */
async function createDeletedAccount(users: TestUsers): Promise<DeletedAccount> {
  const deleted = await users.register();
  const friend = await users.sharedUser('ben');
  const [requester, requested] = [await users.sharedUser('ada'), await users.sharedUser('cleo')];
  const picture = (await deleted.send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
  const post = await publish(deleted, { image: png() });
  const liked = await publish(friend);
  await deleted.send(200, `POST /posts/like?id=${liked.id}`);
  await makeFriends(deleted, friend);
  await requester.send(200, `POST /friends/request?to=${deleted.id}`);
  await deleted.send(200, `POST /friends/request?to=${requested.id}`);
  await deleted.send(200, 'DELETE /profiles/me', { json: { password: deleted.password } });
  return {
    deleted,
    friend,
    requester,
    requested,
    image: post.image ?? '',
    picture,
    postId: post.id,
    likedPostId: liked.id,
  };
}

const deletedAccount = (users: TestUsers) => users.shared('deleted account', () => createDeletedAccount(users));

export const profiles: Subject = {
  name: 'Profiles and account deletion',
  rules: [
    rule(
      'profiles.get-own.fields',
      'GET /profiles/me returns 200 {id, name, username, profile_link, private} of the authenticated user.',
      async (users) => {
        const { send, id, username } = await users.sharedUser('ada');
        const response = await send(200, 'GET /profiles/me');
        expectEqual(response, 'the fields', fieldsOf(response.body), FULL_PROFILE_FIELDS);
        expectEqual(response, 'id and username', [response.body.id, response.body.username], [id, username]);
      },
    ),

    rule(
      'profiles.get.fields',
      'GET /profiles/{id} of a public account returns 200 {id, name, username, profile_link, private}.',
      async (users) => {
        const { owner, visitor, picture } = await publicProfile(users);
        const { id, name, username } = owner;
        const response = await visitor.send(200, `GET /profiles/${id}`);
        expectEqual(response, 'the profile', response.body, {
          id,
          name,
          username,
          profile_link: picture,
          private: false,
        });
      },
    ),

    rule('profiles.get.no-email', 'Profile routes never expose the email address.', async (users) => {
      const { owner, visitor } = await publicProfile(users);
      for (const response of [
        await visitor.send(200, `GET /profiles/${owner.id}`),
        await owner.send(200, 'GET /profiles/me'),
        await owner.send(200, 'PUT /profiles/me', { form: { private: 'false' } }),
      ]) {
        expectThat(!response.bytes.toString().includes(owner.email), 'no email address', response);
      }
    }),

    rule('profiles.private.default', 'A new account has private=false and no picture.', async (users) => {
      const response = await (await users.sharedUser('ada')).send(200, 'GET /profiles/me');
      expectEqual(response, 'private', response.body.private, false);
      expectEqual(response, 'profile_link', response.body.profile_link, null);
    }),

    rule(
      'profiles.get.missing',
      'GET /profiles/{id} returns 404 for an unknown user and for an id that is not well formed.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const id of [UNUSED_ID, '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00', '..%2fme']) {
          await send(404, `GET /profiles/${id}`);
        }
      },
    ),

    rule(
      'profiles.update.changes-sent-fields',
      'PUT /profiles/me changes the fields that are sent and leaves the others unchanged.',
      async (users) => {
        const pia = await users.sharedUser('pia');
        const before = await pia.send(200, 'GET /profiles/me');
        const { username } = users.newUser();
        const response = await pia.send(200, 'PUT /profiles/me', { form: { username } });
        expectEqual(response, 'the profile', response.body, { ...before.body, username });
        expectEqual(response, 'the account', (await pia.send(200, 'GET /auth/me')).body.username, username);
      },
    ),

    rule(
      'profiles.update.field-rules',
      'PUT /profiles/me validates name, username, email and password as POST /auth/register does. The 400 names every invalid field.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const texts = { name: ' ', username: 'two words', email: 'none', password: 'weak', extra: 'x' };
        const form = { ...texts, private: 'maybe', image: png(), remove_image: 'true' };
        const named = [...Object.keys(texts), 'current_password', 'private', 'remove_image'];
        expectProblems(await send(400, 'PUT /profiles/me', { form }), ...named.map((field) => `body.${field}`));
      },
    ),

    rule(
      'profiles.update.email-is-normalized',
      'The email of a profile update is trimmed and lowercased before it is checked.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const { email } = users.newUser();
        await send(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
        const response = await send(200, 'GET /auth/me');
        expectEqual(response, 'the email', response.body.email, email);
      },
    ),

    rule(
      'profiles.update.names-in-use',
      'PUT /profiles/me returns 409 if the username or email is taken.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const { username, email } = await users.sharedUser('ada');
        await send(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
        await send(409, 'PUT /profiles/me', { form: { email } });
      },
    ),

    rule(
      'profiles.update.same-value',
      'PUT /profiles/me with the current value of a field returns 200, as does remove_image=true without a picture.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const { name, username, email } = (await send(200, 'GET /auth/me')).body;
        for (const form of [{ name }, { username: username.toUpperCase() }, { username }, { email }]) {
          await send(200, 'PUT /profiles/me', { form });
        }
        await send(200, 'PUT /profiles/me', { form: { private: 'false' } });
        await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
      },
    ),

    rule(
      'profiles.update.nothing-to-change',
      'A profile update without a profile field or a picture change returns 400.',
      async (users) => {
        const { send, password: current_password } = await users.sharedUser('pia');
        for (const form of [
          new FormData(),
          { remove_image: 'false' },
          { current_password: WRONG_PASSWORD },
          { current_password, remove_image: 'FALSE' },
        ]) {
          expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.');
        }
        expectProblems(await send(400, 'PUT /profiles/me'), 'body.');
      },
    ),

    rule(
      'profiles.update.booleans',
      'The field private of PUT /profiles/me is true or false, ignoring case; other values return 400.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        for (const [value, stored] of [
          ['True', true],
          ['FALSE', false],
        ] as const) {
          const response = await send(200, 'PUT /profiles/me', { form: { private: value } });
          expectEqual(response, 'private', response.body.private, stored);
        }
        for (const value of ['1', '0', 'yes', 'on', 'null', '', ' true', 'true ', 'tru\u0435']) {
          expectProblems(await send(400, 'PUT /profiles/me', { form: { private: value } }), 'body.private');
        }
      },
    ),

    rule(
      'profiles.update.replaces-picture',
      'An image in a profile update replaces the picture; the old picture returns 404.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const first = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const second = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        expectEqual(await send(200, `GET ${second}`), 'two names', first === second, false);
        await send(404, `GET ${first}`);
      },
    ),

    rule(
      'profiles.update.removes-picture',
      'remove_image=true in a profile update removes the picture, which then returns 404.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const link = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const response = await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
        expectEqual(response, 'profile_link', response.body.profile_link, null);
        await send(404, `GET ${link}`);
      },
    ),

    rule(
      'profiles.update.image-and-remove-image',
      'An image together with remove_image=true in a profile update returns 400.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const form = { image: png(), remove_image: 'true' };
        expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.remove_image');
      },
    ),

    rule(
      'accounts.delete.wrong-password',
      'DELETE /profiles/me returns 401 with the message “Invalid password” if the password is wrong; white space is significant.',
      async (users) => {
        const { send, password } = await users.sharedUser('pia');
        for (const wrong of [WRONG_PASSWORD, ` ${password}`]) {
          const response = await send(401, 'DELETE /profiles/me', { json: { password: wrong } });
          expectEqual(response, 'the message', response.body.message, 'Invalid password');
          expectEqual(response, 'WWW-Authenticate', response.headers.get('www-authenticate'), 'Bearer');
        }
        await send(200, 'GET /auth/me');
      },
    ),

    rule(
      'accounts.delete.fields',
      'DELETE /profiles/me requires password and accepts no other field.',
      async (users) => {
        const { send } = await users.sharedUser('pia');
        const json = { password: WRONG_PASSWORD, reason: 'none' };
        expectProblems(await send(400, 'DELETE /profiles/me', { json }), 'body.reason');
        expectProblems(await send(400, 'DELETE /profiles/me'), 'body.password');
        for (const password of [null, ['x']]) {
          expectProblems(await send(400, 'DELETE /profiles/me', { json: { password } }), 'body.password');
        }
      },
    ),

    rule(
      'accounts.delete.cookie',
      'DELETE /profiles/me returns 200 {message} and clears the session cookie.',
      async (users) => {
        const { send, password } = await users.register();
        const response = await send(200, 'DELETE /profiles/me', { json: { password } });
        expectClearedCookie(response);
      },
    ),

    rule(
      'accounts.delete.account',
      'Account deletion removes the account: its token, its login and its profile.',
      async (users) => {
        const { deleted, friend } = await deletedAccount(users);
        await deleted.send(401, 'GET /auth/me');
        const { email, password } = deleted;
        await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
        await friend.send(404, `GET /profiles/${deleted.id}`);
      },
    ),

    rule('accounts.delete.posts', 'Account deletion removes the posts of the account.', async (users) => {
      const { deleted, friend, postId } = await deletedAccount(users);
      await friend.send(404, `GET /posts/${postId}`);
      await friend.send(404, `POST /posts/like?id=${postId}`);
      const response = await friend.send(200, 'GET /posts?limit=100');
      const authors = response.body.map(({ author_id }: { author_id: number }) => author_id);
      expectThat(!authors.includes(deleted.id), 'no post of a deleted account in the feed', response);
    }),

    rule(
      'accounts.delete.images',
      'Account deletion removes the images and the profile picture of the account.',
      async (users) => {
        const { friend, image, picture } = await deletedAccount(users);
        await friend.send(404, `GET ${image}`);
        await friend.send(404, `GET ${picture}`);
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

    rule('accounts.delete.frees-names', 'Account deletion frees the username and the email.', async (users) => {
      const { deleted } = await deletedAccount(users);
      const { name, username, email, password } = deleted;
      const json = { name, username, email, password };
      const response = await users.anonymous.send(201, 'POST /auth/register', { json });
      expectThat(response.body.id !== deleted.id, 'a new id', response);
    }),

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
  ],
};
