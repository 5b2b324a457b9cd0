import type { Cast, Person } from '../cast.js';
import { fieldsOf, problems, rule, type Subject, same, want } from '../rule.js';
import { befriend, openHouse, part, png, publish } from '../scenes.js';

const TABLE = 'Profiles';
const UPDATE = 'Profiles, PUT /profiles/me';
const FULL = 'id name private profile_link username';

/** Two people whom nothing ties to each other, one of them with a picture, a post and two friends' likes to lose. */
async function leaving(
  cast: Cast,
): Promise<{ leaver: Person; friend: Person; image: string; picture: string; post: number; liked: number }> {
  const leaver = await cast.newcomer();
  const friend = await cast.person('ben');
  const picture = (await leaver.ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
  const post = await publish(leaver, { image: png() });
  const liked = await publish(friend);
  await leaver.ask(200, `POST /posts/like?id=${liked.id}`);
  await befriend(leaver, friend);
  await leaver.ask(200, 'DELETE /profiles/me', { json: { password: leaver.password } });
  return { leaver, friend, image: post.image ?? '', picture, post: post.id, liked: liked.id };
}

const left = (cast: Cast) => cast.once('left', () => leaving(cast));

export const profiles: Subject = {
  name: 'Profiles and account deletion',
  rules: [
    rule(`${TABLE}, GET /profiles/me`, '200 {id, name, username, profile_link, private}', async (cast) => {
      const { ask, id, username } = await cast.person('ada');
      const answer = await ask(200, 'GET /profiles/me');
      same(answer, 'the fields', fieldsOf(answer.body), FULL);
      same(answer, 'id and username', [answer.body.id, answer.body.username], [id, username]);
    }),

    rule(`${TABLE}, GET /profiles/:id`, '200 {id, name, username, profile_link, private}', async (cast) => {
      const { owner, visitor, picture } = await openHouse(cast);
      const { id, name, username } = owner;
      const answer = await visitor.ask(200, `GET /profiles/${id}`);
      same(answer, 'the profile', answer.body, { id, name, username, profile_link: picture, private: false });
    }),

    rule('Account and profile, email', 'Never exposed by profile routes', async (cast) => {
      const { owner, visitor } = await openHouse(cast);
      for (const answer of [
        await visitor.ask(200, `GET /profiles/${owner.id}`),
        await owner.ask(200, 'GET /profiles/me'),
        await owner.ask(200, 'PUT /profiles/me', { form: { private: 'false' } }),
      ]) {
        want(!answer.bytes.toString().includes(owner.email), 'no email address', answer);
      }
    }),

    rule('Account and profile, private', 'default false', async (cast) => {
      const answer = await (await cast.person('ada')).ask(200, 'GET /profiles/me');
      same(answer, 'private', answer.body.private, false);
    }),

    rule('Status codes', 'A profile’s id that names nobody, or is none, is 404', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const id of ['9007199254740991', '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00']) {
        await ask(404, `GET /profiles/${id}`);
      }
    }),

    rule(UPDATE, 'changes what is sent and leaves the rest as it is', async (cast) => {
      const pia = await cast.person('pia');
      const before = await pia.ask(200, 'GET /profiles/me');
      const { username } = cast.identity();
      const answer = await pia.ask(200, 'PUT /profiles/me', { form: { username } });
      same(answer, 'the profile', answer.body, { ...before.body, username });
      same(answer, 'the account', (await pia.ask(200, 'GET /auth/me')).body.username, username);
    }),

    rule('Profile update rules 3', 'Changed text fields follow the registration rules', async (cast) => {
      const { ask } = await cast.person('pia');
      const form = { name: ' ', username: 'two words', email: 'none' };
      problems(await ask(400, 'PUT /profiles/me', { form }), 'body.email', 'body.name', 'body.username');
    }),

    rule('Rules', 'email is trimmed and lowercased before its shape is judged, in forms too', async (cast) => {
      const { ask } = await cast.person('pia');
      const { email } = cast.identity();
      await ask(200, 'PUT /profiles/me', { form: { email: ` ${email.toUpperCase()} ` } });
      const answer = await ask(200, 'GET /auth/me');
      same(answer, 'the email', answer.body.email, email);
    }),

    rule('Status codes', 'taken username or email on PUT /profiles/me: 409', async (cast) => {
      const { ask } = await cast.person('pia');
      const { username, email } = await cast.person('ada');
      await ask(409, 'PUT /profiles/me', { form: { username: username.toUpperCase() } });
      await ask(409, 'PUT /profiles/me', { form: { email } });
    }),

    rule('Rules', 'A field set to the value it has is a change', async (cast) => {
      const { ask } = await cast.person('pia');
      const { username } = (await ask(200, 'GET /profiles/me')).body;
      await ask(200, 'PUT /profiles/me', { form: { username } });
      await ask(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
    }),

    rule('Profile update rules 2', 'At least one profile field or a picture change is required', async (cast) => {
      const { ask } = await cast.person('pia');
      problems(await ask(400, 'PUT /profiles/me', { form: { remove_image: 'false' } }), 'body.');
      await ask(400, 'PUT /profiles/me');
    }),

    rule('Rules', 'Form booleans are true or false, in any case of letters; anything else is 400', async (cast) => {
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
      for (const value of ['1', 'yes', '', ' true']) {
        problems(await ask(400, 'PUT /profiles/me', { form: { private: value } }), 'body.private');
      }
    }),

    rule('Profile update rules 5', 'A file image replaces the picture', async (cast) => {
      const { ask } = await cast.person('pia');
      const first = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      const second = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      same(await ask(200, `GET ${second}`), 'two names', first === second, false);
      await ask(404, `GET ${first}`);
    }),

    rule('Profile update rules 5', 'remove_image=true clears the picture', async (cast) => {
      const { ask } = await cast.person('pia');
      const link = (await ask(200, 'PUT /profiles/me', { form: { image: png() } })).body.profile_link;
      const answer = await ask(200, 'PUT /profiles/me', { form: { remove_image: 'true' } });
      same(answer, 'profile_link', answer.body.profile_link, null);
      await ask(404, `GET ${link}`);
    }),

    rule('Profile update rules 5', 'Sending an image together with remove_image=true is invalid', async (cast) => {
      const { ask } = await cast.person('pia');
      const form = { image: png(), remove_image: 'true' };
      problems(await ask(400, 'PUT /profiles/me', { form }), 'body.remove_image');
    }),

    rule(`${TABLE}, DELETE /profiles/me`, '401 Invalid password if wrong', async (cast) => {
      const { ask, password } = await cast.person('pia');
      for (const wrong of ['Wrong-Harbour_58', ` ${password}`]) {
        const answer = await ask(401, 'DELETE /profiles/me', { json: { password: wrong } });
        same(answer, 'the message', answer.body.message, 'Invalid password');
      }
      await ask(200, 'GET /auth/me');
    }),

    rule('Input rules, account deletion', 'only password', async (cast) => {
      const { ask } = await cast.person('pia');
      const json = { password: 'Wrong-Harbour_58', reason: 'none' };
      problems(await ask(400, 'DELETE /profiles/me', { json }), 'body.reason');
      problems(await ask(400, 'DELETE /profiles/me'), 'body.password');
    }),

    rule('Account deletion', '200 {message}; the session cookie is cleared', async (cast) => {
      const { ask, password } = await cast.newcomer();
      const answer = await ask(200, 'DELETE /profiles/me', { json: { password } });
      want(/^fc_session_token=;/.test(answer.headers.get('set-cookie') ?? ''), 'a cleared cookie', answer);
    }),

    rule('Account deletion', 'removes the account row: no session, no login, no profile', async (cast) => {
      const { leaver, friend } = await left(cast);
      await leaver.ask(401, 'GET /auth/me');
      const { email, password } = leaver;
      await cast.nobody.ask(401, 'POST /auth/login', { json: { email, password } });
      await friend.ask(404, `GET /profiles/${leaver.id}`);
    }),

    rule('Account deletion', 'removes posts', async (cast) => {
      const { leaver, friend, post } = await left(cast);
      await friend.ask(404, `GET /posts/${post}`);
      const answer = await friend.ask(200, 'GET /posts?limit=100');
      const authors = answer.body.map(({ author_id }: { author_id: number }) => author_id);
      want(!authors.includes(leaver.id), 'no post of a deleted account in the feed', answer);
    }),

    rule('Account deletion', 'removes images and the profile picture', async (cast) => {
      const { friend, image, picture } = await left(cast);
      await friend.ask(404, `GET ${image}`);
      await friend.ask(404, `GET ${picture}`);
    }),

    rule('Account deletion', 'removes the graph node, including the user’s likes', async (cast) => {
      const { friend, liked } = await left(cast);
      const answer = await friend.ask(200, `GET /posts/${liked}`);
      same(answer, 'like_count', answer.body.like_count, 0);
    }),

    rule('Account deletion', 'removes friendships', async (cast) => {
      const { leaver, friend } = await left(cast);
      const answer = await friend.ask(200, 'GET /friends');
      want(!answer.body.some(({ id }: { id: number }) => id === leaver.id), 'nobody who is gone among friends', answer);
      await friend.ask(404, `DELETE /friends/remove?id=${leaver.id}`);
    }),

    rule('Account deletion', 'frees username and email', async (cast) => {
      const { leaver } = await left(cast);
      const { name, username, email, password } = leaver;
      await cast.nobody.ask(201, 'POST /auth/register', { json: { name, username, email, password } });
    }),

    rule(
      'Visibility rules 1',
      'Every profile has private, set through PUT /profiles/me: both ways, at once',
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
