import { expectClearedCookie, expectEqual, expectThat } from '../expect.js';
import { findInFeed, makeFriends, type Post, png, publish } from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

interface Profile {
  id: number;
  name: string;
  username: string;
  profile_link: string | null;
  private: boolean;
}

/** Returns a private account with a picture, a post, a friend and an unanswered friend request. Only these rules use it. */
const getUpdatedAccount = (users: TestUsers) =>
  users.shared('updated account', async () => {
    const [user, friend, requested] = await Promise.all([users.register(), users.register(), users.register()]);
    const form = { private: 'true', image: png(), name: 'Ada B. Carter' };
    const { body } = await user.send(200, 'PUT /profiles/me', { form });
    const post = await publish(user, { image: png() });
    await makeFriends(user, friend);
    await user.send(200, `POST /friends/request?to=${requested.id}`);
    return { user, friend, requested, post, profile: body as Profile };
  });

type UpdatedAccount = Awaited<ReturnType<typeof getUpdatedAccount>>;

/** Checks the account on the routes that show it. */
async function expectEverywhere({ user, friend, requested, post, profile }: UpdatedAccount): Promise<void> {
  const { id, name, username, profile_link } = profile;
  const account = { id, name, username, email: user.email };
  for (const path of ['/auth/me', '/auth/verify']) {
    const response = await user.send(200, `GET ${path}`);
    expectEqual(response, 'the account', response.body, account);
  }
  for (const [{ send }, path] of [
    [user, '/profiles/me'],
    [user, `/profiles/${id}`],
    [friend, `/profiles/${id}`],
  ] as const) {
    const response = await send(200, `GET ${path}`);
    expectEqual(response, 'the profile', response.body, profile);
  }
  const friends = await friend.send(200, 'GET /friends');
  expectEqual(friends, 'the entry of the friend', friends.body, [profile]);
  const requests = await requested.send(200, 'GET /friends/requests');
  expectEqual(requests, 'the entry of the requester', requests.body, [
    profile.private ? { id, name, username } : profile,
  ]);
  const single = await friend.send(200, `GET /posts/${post.id}`);
  expectEqual(single, 'author_username', single.body.author_username, username);
  const { response: feed } = await findInFeed(friend, post, 100);
  const entry = feed.body.find(({ id }: Post) => id === post.id);
  expectEqual(feed, 'author_username in the feed', entry?.author_username, username);
  const own = await user.send(200, 'GET /posts/me');
  expectEqual(own, 'author_username', own.body[0]?.author_username, username);
  if (profile_link) {
    const picture = await friend.send(200, `GET ${profile_link}`);
    expectEqual(picture, 'the type of the picture', picture.headers.get('content-type')?.split('/')[0], 'image');
  }
}

/** The fields of a profile update, with the form that is sent and the expected change of the profile. */
const PROFILE_FIELDS: [
  field: string,
  form: (users: TestUsers, user: User) => Record<string, string | File>,
  expectedChange: (form: Record<string, string | File>, updated: Profile) => Partial<Profile>,
][] = [
  ['name', () => ({ name: ' Another  <Name> ' }), ({ name }) => ({ name: String(name) })],
  ['username', (users) => ({ username: users.newUser().username }), ({ username }) => ({ username: String(username) })],
  ['email', (users) => ({ email: users.newUser().email }), () => ({})],
  ['private', () => ({ private: 'false' }), () => ({ private: false })],
  ['private.back', () => ({ private: 'true' }), () => ({ private: true })],
  [
    'image',
    () => ({ image: new File([samples.gif], 'a.gif', { type: 'image/gif' }) }),
    (_, { profile_link }) => ({ profile_link }),
  ],
  [
    'password',
    (users, { password }) => ({ password: ` ${users.newUser().password}\u212b `, current_password: password }),
    () => ({}),
  ],
  ['remove_image', () => ({ remove_image: 'true' }), () => ({ profile_link: null })],
];

const profileRules = PROFILE_FIELDS.map(([name, formOf, expectedChange]) => {
  const field = name.split('.')[0] ?? name;
  return rule(
    `profiles.update.only.${name}`,
    `PUT /profiles/me with ${field} changes only ${field}. Every route that shows the account shows the new value.`,
    async (users) => {
      const account = await getUpdatedAccount(users);
      const { user } = account;
      const before = account.profile;
      const form = formOf(users, user);
      const response = await user.send(200, 'PUT /profiles/me', { form });
      account.profile = { ...before, ...expectedChange(form, response.body) };
      if (field === 'image') {
        expectThat(
          response.body.profile_link && response.body.profile_link !== before.profile_link,
          'a new picture',
          response,
        );
      }
      if (form.email !== undefined) user.email = String(form.email);
      try {
        expectEqual(response, 'the profile', response.body, account.profile);
        expectThat(
          response.headers.has('set-cookie') === (field === 'password'),
          'a cookie that only a new password clears',
          response,
        );
        if (form.password !== undefined) {
          await user.send(401, 'GET /auth/me');
          user.password = String(form.password);
          const token: string = (await users.login(user)).body.token;
          user.send = (wanted, request, sent) => users.anonymous.send(wanted, request, { token, ...sent });
        }
        await expectEverywhere(account);
      } finally {
        // The next rule starts from the actual state, even if this rule failed.
        account.profile = (await user.send([200, 401], 'GET /profiles/me')).body;
      }
    },
  );
});

const POST_FIELDS: [
  field: string,
  form: Record<string, string | File>,
  expectedChange: (updated: Post) => Partial<Post>,
][] = [
  ['title', { title: 'Another title' }, () => ({ title: 'Another title' })],
  ['text', { text: 'Another text' }, () => ({ text: 'Another text' })],
  ['image', { image: new File([samples.gif], 'a.gif', { type: 'image/gif' }) }, ({ image }) => ({ image })],
  ['remove_image', { remove_image: 'true' }, () => ({ image: null })],
];

const postRules = POST_FIELDS.map(([field, form, expectedChange]) =>
  rule(
    `posts.edit.only.${field}`,
    `PUT /posts/edit with ${field} changes only ${field}, and not likes, author or created_at. The post and all lists show the new value.`,
    async (users) => {
      const { user, friend } = await getUpdatedAccount(users);
      const post = await publish(user, { title: ' A title ', text: 'Line one\nline two', image: png() });
      await friend.send(200, `POST /posts/like?id=${post.id}`);
      // A service may cache the feed of other users.
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
      const { name, username, email, password } = { ...users.newUser(), name: 'All Together' };
      const form = { name, username, email, password, current_password: user.password, private: 'true', image: png() };
      const updated = await user.send(200, 'PUT /profiles/me', { form });
      expectClearedCookie(updated);
      await user.send(401, 'GET /auth/me');
      const { id, token } = (await users.login({ email, password })).body;
      await users.anonymous.send(401, 'POST /auth/login', { json: { email: user.email, password } });
      const response = await users.anonymous.send(200, 'GET /auth/me', { token });
      expectEqual(response, 'the account', response.body, { id, name, username, email });
      const profile = await users.anonymous.send(200, 'GET /profiles/me', { token });
      const { profile_link } = updated.body;
      expectEqual(profile, 'the profile', profile.body, { id, name, username, private: true, profile_link });
      await users.anonymous.send(200, `GET ${profile_link}`, { token });
      // The second request removes a picture that no longer exists.
      for (const [newName, isPrivate] of [
        ['Together Again', false],
        ['Without Picture', true],
      ] as const) {
        const others = { name: newName, private: String(isPrivate), remove_image: 'true' };
        const changed = await users.anonymous.send(200, 'PUT /profiles/me', { token, form: others });
        const expected = { id, name: newName, username, private: isPrivate, profile_link: null };
        expectEqual(changed, 'the profile', changed.body, expected);
      }
    },
  ),

  rule(
    'posts.edit.together',
    'PUT /posts/edit changes all fields that are sent together, with a new image or without one.',
    async (users) => {
      const { user } = await getUpdatedAccount(users);
      const post = await publish(user);
      const request = `PUT /posts/edit?id=${post.id}`;
      const edits = [
        { title: 'New title', text: 'New text', image: png() },
        { title: 'Newer title', text: 'Newer text', remove_image: 'true' },
      ];
      for (const { image, remove_image, ...texts } of edits as Record<string, string | File>[]) {
        const form = { ...texts, ...(image ? { image } : { remove_image: remove_image as string }) };
        const response = await user.send(200, request, { form });
        const expected = { ...post, ...texts, image: response.body.image };
        expectThat((response.body.image !== null) === (image !== undefined), 'an image only if one was sent', response);
        const single = await user.send(200, `GET /posts/${post.id}`);
        expectEqual(single, 'the post', single.body, { ...expected, comments: [] });
      }
    },
  ),
];

export const updates: Subject = {
  name: 'Updates',
  rules: [...profileRules, ...postRules, ...togetherRules],
};
