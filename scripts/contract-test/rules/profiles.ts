import { expectEqual, expectProblems, expectThat, fieldsOf } from '../expect.js';
import { befriend, part, png, publicProfile, publish } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

const FULL = 'id name private profile_link username';

interface Left {
  leaver: User;
  friend: User;
  requester: User;
  requested: User;
  image: string;
  picture: string;
  post: number;
  liked: number;
}

/** A deleted account, which had a picture, a post, a like, a friend and friend requests in both directions. */
async function leaving(cast: TestUsers): Promise<Left> {
  const leaver = await cast.register();
  const friend = await cast.sharedUser('ben');
  const [requester, requested] = [await cast.sharedUser('ada'), await cast.sharedUser('cleo')];
  const picture = (await leaver.send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
  const post = await publish(leaver, { image: png() });
  const liked = await publish(friend);
  await leaver.send(200, `POST /posts/like?id=${liked.id}`);
  await befriend(leaver, friend);
  await requester.send(200, `POST /friends/request?to=${leaver.id}`);
  await leaver.send(200, `POST /friends/request?to=${requested.id}`);
  await leaver.send(200, 'DELETE /profiles/me', { json: { password: leaver.password } });
  return { leaver, friend, requester, requested, image: post.image ?? '', picture, post: post.id, liked: liked.id };
}

const left = (cast: TestUsers) => cast.once('left', () => leaving(cast));

export const profiles: Subject = {
  name: 'Profiles and account deletion',
  rules: [
    rule(
      'profiles.get-own.fields',
      'GET /profiles/me returns 200 {id, name, username, profile_link, private} of the authenticated user.',
      async (cast) => {
        const { send, id, username } = await cast.sharedUser('ada');
        const answer = await send(200, 'GET /profiles/me');
        expectEqual(answer, 'the fields', fieldsOf(answer.body), FULL);
        expectEqual(answer, 'id and username', [answer.body.id, answer.body.username], [id, username]);
      },
    ),

    rule(
      'profiles.get.fields',
      'GET /profiles/{id} of a public account returns 200 {id, name, username, profile_link, private}.',
      async (cast) => {
        const { owner, visitor, picture } = await publicProfile(cast);
        const { id, name, username } = owner;
        const answer = await visitor.send(200, `GET /profiles/${id}`);
        expectEqual(answer, 'the profile', answer.body, { id, name, username, profile_link: picture, private: false });
      },
    ),

    rule('profiles.get.no-email', 'Profile routes never expose the email address.', async (cast) => {
      const { owner, visitor } = await publicProfile(cast);
      for (const answer of [
        await visitor.send(200, `GET /profiles/${owner.id}`),
        await owner.send(200, 'GET /profiles/me'),
        await owner.send(200, 'PUT /profiles/me', { form: { private: 'false' } }),
      ]) {
        expectThat(!answer.bytes.toString().includes(owner.email), 'no email address', answer);
      }
    }),

    rule('profiles.private.default', 'private is false by default, and there is no picture.', async (cast) => {
      const answer = await (await cast.sharedUser('ada')).send(200, 'GET /profiles/me');
      expectEqual(answer, 'private', answer.body.private, false);
      expectEqual(answer, 'profile_link', answer.body.profile_link, null);
    }),

    rule(
      'profiles.get.missing',
      'GET /profiles/{id} returns 404 for an unknown user and for an id that is not well formed.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        for (const id of ['9007199254740991', '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00', '..%2fme']) {
          await send(404, `GET /profiles/${id}`);
        }
      },
    ),

    rule(
      'profiles.update.changes-sent-fields',
      'PUT /profiles/me changes the fields that are sent and leaves the others.',
      async (cast) => {
        const pia = await cast.sharedUser('pia');
        const before = await pia.send(200, 'GET /profiles/me');
        const { username } = cast.newUser();
        const answer = await pia.send(200, 'PUT /profiles/me', { form: { username } });
        expectEqual(answer, 'the profile', answer.body, { ...before.body, username });
        expectEqual(answer, 'the account', (await pia.send(200, 'GET /auth/me')).body.username, username);
      },
    ),

    rule('profiles.update.field-rules', 'Changed text fields follow the registration rules.', async (cast) => {
      const { send } = await cast.sharedUser('pia');
      const texts = { name: ' ', username: 'two words', email: 'none', password: 'weak', extra: 'x' };
      const form = { ...texts, private: 'maybe', image: png(), remove_image: 'true' };
      const named = [...Object.keys(texts), 'current_password', 'private', 'remove_image'];
      expectProblems(await send(400, 'PUT /profiles/me', { form }), ...named.map((field) => `body.${field}`));
    }),

    rule(
      'profiles.update.email-is-normalized',
      'The email of a profile update is trimmed and lowercased before it is checked.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        const { email } = cast.newUser();
        await send(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
        const answer = await send(200, 'GET /auth/me');
        expectEqual(answer, 'the email', answer.body.email, email);
      },
    ),

    rule(
      'profiles.update.names-in-use',
      'A username or email that is in use returns 409 on PUT /profiles/me.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        const { username, email } = await cast.sharedUser('ada');
        await send(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
        await send(409, 'PUT /profiles/me', { form: { email } });
      },
    ),

    rule(
      'profiles.update.same-value',
      'A field set to its present value is a change; so is remove_image=true without a picture.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
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
      'A profile update requires at least one profile field or a picture change; otherwise it returns 400.',
      async (cast) => {
        const { send, password: current_password } = await cast.sharedUser('pia');
        for (const form of [
          new FormData(),
          { remove_image: 'false' },
          { current_password: 'Wrong-Harbour_58' },
          { current_password, remove_image: 'FALSE' },
        ]) {
          expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.');
        }
        expectProblems(await send(400, 'PUT /profiles/me'), 'body.');
      },
    ),

    rule(
      'profiles.update.booleans',
      'Form booleans are true or false, ignoring case; anything else returns 400.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        expectEqual(
          await send(200, 'GET /profiles/me'),
          'private',
          (await send(200, 'PUT /profiles/me', { form: { private: 'True' } })).body.private,
          true,
        );
        expectEqual(
          await send(200, 'GET /profiles/me'),
          'private',
          (await send(200, 'PUT /profiles/me', { form: { private: 'FALSE' } })).body.private,
          false,
        );
        for (const value of ['1', '0', 'yes', 'on', 'null', '', ' true', 'true ', 'tru\u0435']) {
          expectProblems(await send(400, 'PUT /profiles/me', { form: { private: value } }), 'body.private');
        }
      },
    ),

    rule(
      'profiles.update.replaces-picture',
      'On a profile update, image replaces the picture; the old picture returns 404.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        const first = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const second = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        expectEqual(await send(200, `GET ${second}`), 'two names', first === second, false);
        await send(404, `GET ${first}`);
      },
    ),

    rule(
      'profiles.update.removes-picture',
      'On a profile update, remove_image=true removes the picture; it then returns 404.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        const link = (await send(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const answer = await send(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
        expectEqual(answer, 'profile_link', answer.body.profile_link, null);
        await send(404, `GET ${link}`);
      },
    ),

    rule(
      'profiles.update.image-and-remove-image',
      'On a profile update, an image together with remove_image=true returns 400.',
      async (cast) => {
        const { send } = await cast.sharedUser('pia');
        const form = { image: png(), remove_image: 'true' };
        expectProblems(await send(400, 'PUT /profiles/me', { form }), 'body.remove_image');
      },
    ),

    rule(
      'accounts.delete.wrong-password',
      'DELETE /profiles/me returns 401 with the message “Invalid password” if the password is wrong; whitespace counts.',
      async (cast) => {
        const { send, password } = await cast.sharedUser('pia');
        for (const wrong of ['Wrong-Harbour_58', ` ${password}`]) {
          const answer = await send(401, 'DELETE /profiles/me', { json: { password: wrong } });
          expectEqual(answer, 'the message', answer.body.message, 'Invalid password');
          expectEqual(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
        }
        await send(200, 'GET /auth/me');
      },
    ),

    rule('accounts.delete.fields', 'DELETE /profiles/me requires password and takes no other field.', async (cast) => {
      const { send } = await cast.sharedUser('pia');
      const json = { password: 'Wrong-Harbour_58', reason: 'none' };
      expectProblems(await send(400, 'DELETE /profiles/me', { json }), 'body.reason');
      expectProblems(await send(400, 'DELETE /profiles/me'), 'body.password');
      for (const password of [null, ['x']]) {
        expectProblems(await send(400, 'DELETE /profiles/me', { json: { password } }), 'body.password');
      }
    }),

    rule(
      'accounts.delete.cookie',
      'DELETE /profiles/me returns 200 {message} and clears the session cookie.',
      async (cast) => {
        const { send, password } = await cast.register();
        const answer = await send(200, 'DELETE /profiles/me', { json: { password } });
        expectThat(/^fc_session_token=;/.test(answer.headers.get('set-cookie') ?? ''), 'a cleared cookie', answer);
      },
    ),

    rule(
      'accounts.delete.account',
      'Account deletion removes the account: its token, its login and its profile.',
      async (cast) => {
        const { leaver, friend } = await left(cast);
        await leaver.send(401, 'GET /auth/me');
        const { email, password } = leaver;
        await cast.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
        await friend.send(404, `GET /profiles/${leaver.id}`);
      },
    ),

    rule('accounts.delete.posts', 'Account deletion removes the posts of the account.', async (cast) => {
      const { leaver, friend, post } = await left(cast);
      await friend.send(404, `GET /posts/${post}`);
      await friend.send(404, `POST /posts/like?id=${post}`);
      const answer = await friend.send(200, 'GET /posts?limit=100');
      const authors = answer.body.map(({ author_id }: { author_id: number }) => author_id);
      expectThat(!authors.includes(leaver.id), 'no post of a deleted account in the feed', answer);
    }),

    rule(
      'accounts.delete.images',
      'Account deletion removes the images and the profile picture of the account.',
      async (cast) => {
        const { friend, image, picture } = await left(cast);
        await friend.send(404, `GET ${image}`);
        await friend.send(404, `GET ${picture}`);
      },
    ),

    rule('accounts.delete.likes', 'Account deletion removes the likes of the account.', async (cast) => {
      const { friend, liked } = await left(cast);
      const answer = await friend.send(200, `GET /posts/${liked}`);
      expectEqual(answer, 'like_count', answer.body.like_count, 0);
    }),

    rule(
      'accounts.delete.friendships',
      'Account deletion removes the friendships and the friend requests of the account. Friend operations with its id return 404.',
      async (cast) => {
        const { leaver, friend, requester, requested } = await left(cast);
        for (const { send } of [friend, requester, requested]) {
          for (const path of ['/friends', '/friends/requests']) {
            const answer = await send(200, `GET ${path}`);
            expectThat(!answer.body.some(({ id }: { id: number }) => id === leaver.id), 'no deleted account', answer);
          }
          for (const path of ['request?to', 'accept?from', 'decline?from', 'cancel?to']) {
            await send(404, `POST /friends/${path}=${leaver.id}`);
          }
          await send(404, `DELETE /friends/remove?id=${leaver.id}`);
        }
      },
    ),

    rule('accounts.delete.frees-names', 'Account deletion frees the username and the email.', async (cast) => {
      const { leaver } = await left(cast);
      const { name, username, email, password } = leaver;
      const json = { name, username, email, password };
      const answer = await cast.anonymous.send(201, 'POST /auth/register', { json });
      expectThat(answer.body.id !== leaver.id, 'another id, which nothing of the deleted account belongs to', answer);
    }),

    rule(
      'profiles.private.changes-visibility',
      'private is set through PUT /profiles/me and takes effect immediately, in both directions.',
      async (cast) => {
        const pia = await cast.sharedUser('pia');
        const ada = await cast.sharedUser('ada');
        await part(pia, ada);
        const post = await publish(pia);
        await pia.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        await ada.send(404, `GET /posts/${post.id}`);
        expectEqual(
          await ada.send(200, `GET /profiles/${pia.id}`),
          'the fields',
          fieldsOf((await ada.send(200, `GET /profiles/${pia.id}`)).body),
          'id name username',
        );
        await pia.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
        await ada.send(200, `GET /posts/${post.id}`);
      },
    ),
  ],
};
