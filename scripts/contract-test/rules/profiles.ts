import type { Cast, Person } from '../cast.js';
import { fieldsOf, problems, same, want } from '../expect.js';
import { rule, type Subject } from '../rule.js';
import { befriend, openHouse, part, png, publish } from '../scenes.js';

const FULL = 'id name private profile_link username';

interface Left {
  leaver: Person;
  friend: Person;
  requester: Person;
  requested: Person;
  image: string;
  picture: string;
  post: number;
  liked: number;
}

/** A deleted account, which had a picture, a post, a like, a friend and friend requests in both directions. */
async function leaving(cast: Cast): Promise<Left> {
  const leaver = await cast.newcomer();
  const friend = await cast.person('ben');
  const [requester, requested] = [await cast.person('ada'), await cast.person('cleo')];
  const picture = (await leaver.ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
  const post = await publish(leaver, { image: png() });
  const liked = await publish(friend);
  await leaver.ask(200, `POST /posts/like?id=${liked.id}`);
  await befriend(leaver, friend);
  await requester.ask(200, `POST /friends/request?to=${leaver.id}`);
  await leaver.ask(200, `POST /friends/request?to=${requested.id}`);
  await leaver.ask(200, 'DELETE /profiles/me', { json: { password: leaver.password } });
  return { leaver, friend, requester, requested, image: post.image ?? '', picture, post: post.id, liked: liked.id };
}

const left = (cast: Cast) => cast.once('left', () => leaving(cast));

export const profiles: Subject = {
  name: 'Profiles and account deletion',
  rules: [
    rule(
      'profiles.get-own.fields',
      'GET /profiles/me returns 200 {id, name, username, profile_link, private} of the authenticated user.',
      async (cast) => {
        const { ask, id, username } = await cast.person('ada');
        const answer = await ask(200, 'GET /profiles/me');
        same(answer, 'the fields', fieldsOf(answer.body), FULL);
        same(answer, 'id and username', [answer.body.id, answer.body.username], [id, username]);
      },
    ),

    rule(
      'profiles.get.fields',
      'GET /profiles/{id} of a public account returns 200 {id, name, username, profile_link, private}.',
      async (cast) => {
        const { owner, visitor, picture } = await openHouse(cast);
        const { id, name, username } = owner;
        const answer = await visitor.ask(200, `GET /profiles/${id}`);
        same(answer, 'the profile', answer.body, { id, name, username, profile_link: picture, private: false });
      },
    ),

    rule('profiles.get.no-email', 'Profile routes never expose the email address.', async (cast) => {
      const { owner, visitor } = await openHouse(cast);
      for (const answer of [
        await visitor.ask(200, `GET /profiles/${owner.id}`),
        await owner.ask(200, 'GET /profiles/me'),
        await owner.ask(200, 'PUT /profiles/me', { form: { private: 'false' } }),
      ]) {
        want(!answer.bytes.toString().includes(owner.email), 'no email address', answer);
      }
    }),

    rule('profiles.private.default', 'private is false by default, and there is no picture.', async (cast) => {
      const answer = await (await cast.person('ada')).ask(200, 'GET /profiles/me');
      same(answer, 'private', answer.body.private, false);
      same(answer, 'profile_link', answer.body.profile_link, null);
    }),

    rule(
      'profiles.get.missing',
      'GET /profiles/{id} returns 404 for an unknown user and for an id that is not well formed.',
      async (cast) => {
        const { ask } = await cast.person('ada');
        for (const id of ['9007199254740991', '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00', '..%2fme']) {
          await ask(404, `GET /profiles/${id}`);
        }
      },
    ),

    rule(
      'profiles.update.changes-sent-fields',
      'PUT /profiles/me changes the fields that are sent and leaves the others.',
      async (cast) => {
        const pia = await cast.person('pia');
        const before = await pia.ask(200, 'GET /profiles/me');
        const { username } = cast.identity();
        const answer = await pia.ask(200, 'PUT /profiles/me', { form: { username } });
        same(answer, 'the profile', answer.body, { ...before.body, username });
        same(answer, 'the account', (await pia.ask(200, 'GET /auth/me')).body.username, username);
      },
    ),

    rule('profiles.update.field-rules', 'Changed text fields follow the registration rules.', async (cast) => {
      const { ask } = await cast.person('pia');
      const texts = { name: ' ', username: 'two words', email: 'none', password: 'weak', extra: 'x' };
      const form = { ...texts, private: 'maybe', image: png(), remove_image: 'true' };
      const named = [...Object.keys(texts), 'current_password', 'private', 'remove_image'];
      problems(await ask(400, 'PUT /profiles/me', { form }), ...named.map((field) => `body.${field}`));
    }),

    rule(
      'profiles.update.email-is-normalized',
      'The email of a profile update is trimmed and lowercased before it is checked.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const { email } = cast.identity();
        await ask(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
        const answer = await ask(200, 'GET /auth/me');
        same(answer, 'the email', answer.body.email, email);
      },
    ),

    rule(
      'profiles.update.names-in-use',
      'A username or email that is in use returns 409 on PUT /profiles/me.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const { username, email } = await cast.person('ada');
        await ask(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
        await ask(409, 'PUT /profiles/me', { form: { email } });
      },
    ),

    rule(
      'profiles.update.same-value',
      'A field set to its present value is a change; so is remove_image=true without a picture.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const { name, username, email } = (await ask(200, 'GET /auth/me')).body;
        for (const form of [{ name }, { username: username.toUpperCase() }, { username }, { email }]) {
          await ask(200, 'PUT /profiles/me', { form });
        }
        await ask(200, 'PUT /profiles/me', { form: { private: 'false' } });
        await ask(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
      },
    ),

    rule(
      'profiles.update.nothing-to-change',
      'A profile update requires at least one profile field or a picture change; otherwise it returns 400.',
      async (cast) => {
        const { ask, password: current_password } = await cast.person('pia');
        for (const form of [
          new FormData(),
          { remove_image: 'false' },
          { current_password: 'Wrong-Harbour_58' },
          { current_password, remove_image: 'FALSE' },
        ]) {
          problems(await ask(400, 'PUT /profiles/me', { form }), 'body.');
        }
        problems(await ask(400, 'PUT /profiles/me'), 'body.');
      },
    ),

    rule(
      'profiles.update.booleans',
      'Form booleans are true or false, ignoring case; anything else returns 400.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        same(
          await ask(200, 'GET /profiles/me'),
          'private',
          (await ask(200, 'PUT /profiles/me', { form: { private: 'True' } })).body.private,
          true,
        );
        same(
          await ask(200, 'GET /profiles/me'),
          'private',
          (await ask(200, 'PUT /profiles/me', { form: { private: 'FALSE' } })).body.private,
          false,
        );
        for (const value of ['1', '0', 'yes', 'on', 'null', '', ' true', 'true ', 'tru\u0435']) {
          problems(await ask(400, 'PUT /profiles/me', { form: { private: value } }), 'body.private');
        }
      },
    ),

    rule(
      'profiles.update.replaces-picture',
      'On a profile update, image replaces the picture; the old picture returns 404.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const first = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const second = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        same(await ask(200, `GET ${second}`), 'two names', first === second, false);
        await ask(404, `GET ${first}`);
      },
    ),

    rule(
      'profiles.update.removes-picture',
      'On a profile update, remove_image=true removes the picture; it then returns 404.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const link = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
        const answer = await ask(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
        same(answer, 'profile_link', answer.body.profile_link, null);
        await ask(404, `GET ${link}`);
      },
    ),

    rule(
      'profiles.update.image-and-remove-image',
      'On a profile update, an image together with remove_image=true returns 400.',
      async (cast) => {
        const { ask } = await cast.person('pia');
        const form = { image: png(), remove_image: 'true' };
        problems(await ask(400, 'PUT /profiles/me', { form }), 'body.remove_image');
      },
    ),

    rule(
      'accounts.delete.wrong-password',
      'DELETE /profiles/me returns 401 with the message “Invalid password” if the password is wrong; whitespace counts.',
      async (cast) => {
        const { ask, password } = await cast.person('pia');
        for (const wrong of ['Wrong-Harbour_58', ` ${password}`]) {
          const answer = await ask(401, 'DELETE /profiles/me', { json: { password: wrong } });
          same(answer, 'the message', answer.body.message, 'Invalid password');
          same(answer, 'WWW-Authenticate', answer.headers.get('www-authenticate'), 'Bearer');
        }
        await ask(200, 'GET /auth/me');
      },
    ),

    rule('accounts.delete.fields', 'DELETE /profiles/me requires password and takes no other field.', async (cast) => {
      const { ask } = await cast.person('pia');
      const json = { password: 'Wrong-Harbour_58', reason: 'none' };
      problems(await ask(400, 'DELETE /profiles/me', { json }), 'body.reason');
      problems(await ask(400, 'DELETE /profiles/me'), 'body.password');
      for (const password of [null, ['x']]) {
        problems(await ask(400, 'DELETE /profiles/me', { json: { password } }), 'body.password');
      }
    }),

    rule(
      'accounts.delete.cookie',
      'DELETE /profiles/me returns 200 {message} and clears the session cookie.',
      async (cast) => {
        const { ask, password } = await cast.newcomer();
        const answer = await ask(200, 'DELETE /profiles/me', { json: { password } });
        want(/^fc_session_token=;/.test(answer.headers.get('set-cookie') ?? ''), 'a cleared cookie', answer);
      },
    ),

    rule(
      'accounts.delete.account',
      'Account deletion removes the account: its token, its login and its profile.',
      async (cast) => {
        const { leaver, friend } = await left(cast);
        await leaver.ask(401, 'GET /auth/me');
        const { email, password } = leaver;
        await cast.nobody.ask(401, 'POST /auth/login', { json: { email, password } });
        await friend.ask(404, `GET /profiles/${leaver.id}`);
      },
    ),

    rule('accounts.delete.posts', 'Account deletion removes the posts of the account.', async (cast) => {
      const { leaver, friend, post } = await left(cast);
      await friend.ask(404, `GET /posts/${post}`);
      await friend.ask(404, `POST /posts/like?id=${post}`);
      const answer = await friend.ask(200, 'GET /posts?limit=100');
      const authors = answer.body.map(({ author_id }: { author_id: number }) => author_id);
      want(!authors.includes(leaver.id), 'no post of a deleted account in the feed', answer);
    }),

    rule(
      'accounts.delete.images',
      'Account deletion removes the images and the profile picture of the account.',
      async (cast) => {
        const { friend, image, picture } = await left(cast);
        await friend.ask(404, `GET ${image}`);
        await friend.ask(404, `GET ${picture}`);
      },
    ),

    rule('accounts.delete.likes', 'Account deletion removes the likes of the account.', async (cast) => {
      const { friend, liked } = await left(cast);
      const answer = await friend.ask(200, `GET /posts/${liked}`);
      same(answer, 'like_count', answer.body.like_count, 0);
    }),

    rule(
      'accounts.delete.friendships',
      'Account deletion removes the friendships and the friend requests of the account. Friend operations with its id return 404.',
      async (cast) => {
        const { leaver, friend, requester, requested } = await left(cast);
        for (const { ask } of [friend, requester, requested]) {
          for (const path of ['/friends', '/friends/requests']) {
            const answer = await ask(200, `GET ${path}`);
            want(!answer.body.some(({ id }: { id: number }) => id === leaver.id), 'no deleted account', answer);
          }
          for (const path of ['request?to', 'accept?from', 'decline?from', 'cancel?to']) {
            await ask(404, `POST /friends/${path}=${leaver.id}`);
          }
          await ask(404, `DELETE /friends/remove?id=${leaver.id}`);
        }
      },
    ),

    rule('accounts.delete.frees-names', 'Account deletion frees the username and the email.', async (cast) => {
      const { leaver } = await left(cast);
      const { name, username, email, password } = leaver;
      const json = { name, username, email, password };
      const answer = await cast.nobody.ask(201, 'POST /auth/register', { json });
      want(answer.body.id !== leaver.id, 'another id, which nothing of the deleted account belongs to', answer);
    }),

    rule(
      'profiles.private.changes-visibility',
      'private is set through PUT /profiles/me and takes effect immediately, in both directions.',
      async (cast) => {
        const pia = await cast.person('pia');
        const ada = await cast.person('ada');
        await part(pia, ada);
        const post = await publish(pia);
        await pia.ask(200, 'PUT /profiles/me', { form: { private: 'true' } });
        await ada.ask(404, `GET /posts/${post.id}`);
        same(
          await ada.ask(200, `GET /profiles/${pia.id}`),
          'the fields',
          fieldsOf((await ada.ask(200, `GET /profiles/${pia.id}`)).body),
          'id name username',
        );
        await pia.ask(200, 'PUT /profiles/me', { form: { private: 'false' } });
        await ada.ask(200, `GET /posts/${post.id}`);
      },
    ),
  ],
};
