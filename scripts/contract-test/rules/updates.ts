import type { components } from '../../../generated/types.js';
import { samples } from '../client/index.js';
import { expectClearedCookie, expectEqual, expectThat } from '../expect.js';
import { findInFeed, makeFriends, type Post, pngFile, publish } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';
import { startSession } from './session.js';

type Profile = components['schemas']['FullProfile'];

type Form = Record<string, string | File>;

const GIF = new File([samples.gif], 'a.gif', { type: 'image/gif' });

/**
 * Returns a private account with a picture, a post, another session, a friend and a sent friend request. Only these rules use
 * it.
 */
const getUpdatedAccount = (users: TestUsers) =>
  users.shared('updated account', async () => {
    const [user, friend, requested] = await Promise.all([users.register(), users.register(), users.register()]);
    const form = { private: 'true', image: pngFile(), name: 'Ada B. Carter' };
    const { body } = await user.send(200, 'PUT /profiles/me', { form });
    const post = await publish(user, { image: pngFile() });
    await makeFriends(user, friend);
    await user.send(200, `POST /friends/request?to=${requested.id}`);
    const session = await startSession(users, user);
    return { user, session, friend, requested, post, profile: body as Profile };
  });

type UpdatedAccount = Awaited<ReturnType<typeof getUpdatedAccount>>;

/** Checks the account on the routes that show it. */
async function expectShown({ user, friend, requested, post, profile }: UpdatedAccount): Promise<void> {
  const { id, name, username, profile_link } = profile;
  const account = { id, name, username, email: user.email };
  for (const [{ send }, path, expected] of [
    [user, '/auth/me', account],
    [user, '/auth/verify', account],
    [user, '/profiles/me', profile],
    [user, `/profiles/${id}`, profile],
    [friend, `/profiles/${id}`, profile],
    [friend, '/friends', [profile]],
    [requested, '/friends/requests', [profile.private ? { id, name, username } : profile]],
  ] as const) {
    const response = await send(200, `GET ${path}`);
    expectEqual(response, `the body of GET ${path}`, response.body, expected);
  }
  const single = await friend.send(200, `GET /posts/${post.id}`);
  expectEqual(single, 'author_username', single.body.author_username, username);
  const { response: feed } = await findInFeed(friend, post, 100);
  const entry = feed.body.find(({ id }: Post) => id === post.id);
  expectEqual(feed, 'author_username in the feed', entry?.author_username, username);
  const own = await user.send(200, 'GET /posts/me');
  expectEqual(own, 'author_username', own.body[0]?.author_username, username);
  // Read in both states, so that a cached refusal is noticed too.
  for (const path of [`/posts/${post.id}`, post.image, profile_link]) {
    if (path) await requested.send(profile.private ? 404 : 200, `GET ${path}`);
  }
  const seen = await requested.send(200, `GET /profiles/${id}`);
  const visible = profile.private ? { id, name, username } : profile;
  expectEqual(seen, 'the profile, as a user who is not a friend sees it', seen.body, visible);
  const { found, response: othersFeed } = await findInFeed(requested, post, 100);
  expectEqual(othersFeed, 'whether the feed of a user who is not a friend has the post', found, !profile.private);
  if (profile_link) {
    const picture = await friend.send(200, `GET ${profile_link}`);
    expectEqual(picture, 'the type of the picture', picture.headers.get('content-type')?.split('/')[0], 'image');
  }
}

/** The fields of a profile update, with the form that is sent and the expected change of the profile. */
const PROFILE_UPDATES: [
  field: string,
  form: (users: TestUsers, user: User) => Form,
  expectedChange: (form: Form, updated: Profile) => Partial<Profile>,
][] = [
  ['name', () => ({ name: ' Another  <Name> ' }), ({ name }) => ({ name: String(name) })],
  ['username', (users) => ({ username: users.newUser().username }), ({ username }) => ({ username: String(username) })],
  ['email', (users) => ({ email: users.newUser().email }), () => ({})],
  ['private', () => ({ private: 'false' }), () => ({ private: false })],
  ['private.back', () => ({ private: 'true' }), () => ({ private: true })],
  ['image', () => ({ image: GIF }), (_, { profile_link }) => ({ profile_link })],
  [
    'password',
    (users, { password }) => ({ password: ` ${users.newUser().password}\u212b `, current_password: password }),
    () => ({}),
  ],
  ['remove_image', () => ({ remove_image: 'true' }), () => ({ profile_link: null })],
];

const profileRules = PROFILE_UPDATES.map(([name, formOf, expectedChange]) => {
  const field = name.split('.')[0] ?? name;
  return rule(
    `profiles.update.only.${name}`,
    `PUT /profiles/me with only ${field} changes nothing else${field === 'password' ? '' : ', and ends no session'}. Every route that shows the account shows the change.`,
    async (users) => {
      const account = await getUpdatedAccount(users);
      const { user } = account;
      const before = account.profile;
      const form = formOf(users, user);
      const response = await user.send(200, 'PUT /profiles/me', { form });
      account.profile = { ...before, ...expectedChange(form, response.body) };
      if (field === 'image') {
        const { profile_link } = response.body;
        expectThat(profile_link && profile_link !== before.profile_link, 'a new picture', response);
      }
      if (form.email !== undefined) user.email = String(form.email);
      try {
        expectEqual(response, 'the profile', response.body, account.profile);
        const clearsCookie = response.headers.has('set-cookie');
        expectThat(clearsCookie === (field === 'password'), 'a cookie that only a new password clears', response);
        if (form.password !== undefined) {
          await user.send(401, 'GET /auth/me');
          user.password = String(form.password);
          user.send = (await startSession(users, user)).send;
          account.session = await startSession(users, user);
        }
        const other = await account.session.send([200, 401], 'GET /auth/me');
        if (other.status === 401) account.session = await startSession(users, user);
        expectThat(other.status === 200, 'the other session to stay valid', other);
        await expectShown(account);
      } finally {
        // The next rule starts from the actual state, even if this rule failed.
        account.profile = (await user.send([200, 401], 'GET /profiles/me')).body;
      }
    },
  );
});

/** The fields of an edit, with the form that is sent and the expected change of the post. */
const POST_EDITS: [field: string, form: Form, expectedChange: (updated: Post) => Partial<Post>][] = [
  ['title', { title: 'Another title' }, () => ({ title: 'Another title' })],
  ['text', { text: 'Another text' }, () => ({ text: 'Another text' })],
  ['image', { image: GIF }, ({ image }) => ({ image })],
  ['remove_image', { remove_image: 'true' }, () => ({ image: null })],
];

const postRules = POST_EDITS.map(([field, form, expectedChange]) =>
  rule(
    `posts.edit.only.${field}`,
    `PUT /posts/edit with only ${field} changes nothing else, such as likes, author or created_at. The post and all lists show the change.`,
    async (users) => {
      const { user, friend } = await getUpdatedAccount(users);
      const post = await publish(user, { title: ' A title ', text: 'Line one\nline two', image: pngFile() });
      await friend.send(200, `POST /posts/like?id=${post.id}`);
      // A service may cache the friend's feed. The edit must then invalidate it.
      await findInFeed(friend, post, 100);
      const response = await user.send(200, `PUT /posts/edit?id=${post.id}`, { form });
      const expected = { ...post, like_count: 1, ...expectedChange(response.body) };
      if (field === 'image')
        expectThat(response.body.image && response.body.image !== post.image, 'a new image', response);
      expectEqual(response, 'the post', response.body, expected);
      for (const [{ send }, liked_by_me] of [
        [user, false],
        [friend, true],
      ] as const) {
        const single = await send(200, `GET /posts/${post.id}`);
        expectEqual(single, 'the post', single.body, { ...expected, liked_by_me, comments: [] });
      }
      for (const [list, liked_by_me] of [
        [await user.send(200, 'GET /posts/me?limit=100'), false],
        [(await findInFeed(user, post, 100)).response, false],
        [(await findInFeed(friend, post, 100)).response, true],
      ] as const) {
        const entry = list.body.find(({ id }: Post) => id === post.id);
        expectEqual(list, 'the post in the list', entry, { ...expected, liked_by_me });
      }
    },
  ),
);

const togetherRules = [
  rule(
    'profiles.update.together',
    'PUT /profiles/me changes all fields that are sent together, including the password, which ends the session. A login with the former email returns 401.',
    async (users) => {
      const user = await users.register();
      const { id } = user;
      const { name, username, email, password } = { ...users.newUser(), name: 'All Together' };
      const form = {
        name,
        username,
        email,
        password,
        current_password: user.password,
        private: 'true',
        image: pngFile(),
      };
      const updated = await user.send(200, 'PUT /profiles/me', { form });
      expectClearedCookie(updated);
      await user.send(401, 'GET /auth/me');
      const { send } = await startSession(users, { email, password });
      await users.anonymous.send(401, 'POST /auth/login', { json: { email: user.email, password } });
      const response = await send(200, 'GET /auth/me');
      expectEqual(response, 'the account', response.body, { id, name, username, email });
      const profile = await send(200, 'GET /profiles/me');
      const { profile_link } = updated.body;
      expectEqual(profile, 'the profile', profile.body, { id, name, username, private: true, profile_link });
      await send(200, `GET ${profile_link}`);
      // The second request removes a picture that no longer exists.
      for (const [newName, isPrivate] of [
        ['Together Again', false],
        ['Without Picture', true],
      ] as const) {
        const others = { name: newName, private: String(isPrivate), remove_image: 'true' };
        const changed = await send(200, 'PUT /profiles/me', { form: others });
        const expected = { id, name: newName, username, private: isPrivate, profile_link: null };
        expectEqual(changed, 'the profile', changed.body, expected);
      }
    },
  ),

  rule(
    'posts.edit.together',
    'PUT /posts/edit changes all fields that are sent together, with image or with remove_image.',
    async (users) => {
      const { user } = await getUpdatedAccount(users);
      const post = await publish(user);
      const request = `PUT /posts/edit?id=${post.id}`;
      for (const [texts, picture] of [
        [{ title: 'New title', text: 'New text' }, { image: pngFile() }],
        [{ title: 'Newer title', text: 'Newer text' }, { remove_image: 'true' }],
      ] as [Form, Form][]) {
        const response = await user.send(200, request, { form: { ...texts, ...picture } });
        const { image } = response.body;
        const sendsImage = 'image' in picture;
        expectThat((image !== null) === sendsImage, 'an image only if one was sent', response);
        const single = await user.send(200, `GET /posts/${post.id}`);
        expectEqual(single, 'the post', single.body, { ...post, ...texts, image, comments: [] });
      }
    },
  ),
];

export const updates: Subject = {
  name: 'Updates',
  rules: [...profileRules, ...postRules, ...togetherRules],
};
