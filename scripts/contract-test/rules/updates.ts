import { expectEqual, expectThat } from '../expect.js';
import { befriend, type Post, png, publish } from '../fixtures.js';
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

/** A private account with a picture, a post and a friend, for these rules alone. */
const subject = (cast: TestUsers) =>
  cast.once('updated account', async () => {
    const [user, friend] = await Promise.all([cast.register(), cast.register()]);
    const form = { private: 'true', image: png(), name: 'Ada B. Carter' };
    const { body } = await user.send(200, 'PUT /profiles/me', { form });
    const post = await publish(user, { image: png() });
    await befriend(user, friend);
    return { user, friend, post, profile: body as Profile };
  });

type Subjected = Awaited<ReturnType<typeof subject>>;

/** Reads the account by every route that shows it. */
async function wantEverywhere({ user, friend, post, profile }: Subjected): Promise<void> {
  const { id, name, username, profile_link } = profile;
  const account = { id, name, username, email: user.email };
  for (const path of ['/auth/me', '/auth/verify']) {
    const answer = await user.send(200, `GET ${path}`);
    expectEqual(answer, 'the account', answer.body, account);
  }
  for (const [{ send }, path] of [
    [user, '/profiles/me'],
    [user, `/profiles/${id}`],
    [friend, `/profiles/${id}`],
  ] as const) {
    const answer = await send(200, `GET ${path}`);
    expectEqual(answer, 'the profile', answer.body, profile);
  }
  const friends = await friend.send(200, 'GET /friends');
  expectEqual(friends, 'the entry of the friend', friends.body, [profile]);
  for (const path of [`/posts/${post.id}`, '/posts?limit=100']) {
    const answer = await friend.send(200, `GET ${path}`);
    const found = [answer.body].flat().find((one: Post) => one.id === post.id);
    if (found) expectEqual(answer, 'author_username', found.author_username, username);
  }
  const own = await user.send(200, 'GET /posts/me');
  expectEqual(own, 'author_username', own.body[0]?.author_username, username);
  if (profile_link) {
    const picture = await friend.send(200, `GET ${profile_link}`);
    expectEqual(picture, 'the type of the picture', picture.headers.get('content-type')?.split('/')[0], 'image');
  }
}

/** Each field of the form, what is sent, and what that changes of the profile. */
const PROFILE_FIELDS: [
  field: string,
  form: (cast: TestUsers, user: User) => Record<string, string | File>,
  changed: (form: Record<string, string | File>, answered: Profile) => Partial<Profile>,
][] = [
  ['name', () => ({ name: 'Another Name' }), ({ name }) => ({ name: String(name) })],
  ['username', (cast) => ({ username: cast.newUser().username }), ({ username }) => ({ username: String(username) })],
  ['email', (cast) => ({ email: cast.newUser().email }), () => ({})],
  ['private', () => ({ private: 'false' }), () => ({ private: false })],
  ['private.back', () => ({ private: 'true' }), () => ({ private: true })],
  [
    'image',
    () => ({ image: new File([samples.gif], 'a.gif', { type: 'image/gif' }) }),
    (_, { profile_link }) => ({ profile_link }),
  ],
  [
    'password',
    (cast, { password }) => ({ password: ` ${cast.newUser().password}\u212b `, current_password: password }),
    () => ({}),
  ],
  ['remove_image', () => ({ remove_image: 'true' }), () => ({ profile_link: null })],
];

const profileRules = PROFILE_FIELDS.map(([name, formOf, changed]) => {
  const field = name.split('.')[0] ?? name;
  return rule(
    `profiles.update.only.${name}`,
    `PUT /profiles/me with ${field} changes ${field} and nothing else. Every route that shows the account shows the new value.`,
    async (cast) => {
      const scene = await subject(cast);
      const { user } = scene;
      const before = scene.profile;
      const form = formOf(cast, user);
      const answer = await user.send(200, 'PUT /profiles/me', { form });
      scene.profile = { ...before, ...changed(form, answer.body) };
      if (field === 'image') {
        expectThat(
          answer.body.profile_link && answer.body.profile_link !== before.profile_link,
          'a new picture',
          answer,
        );
      }
      if (form.email !== undefined) user.email = String(form.email);
      try {
        expectEqual(answer, 'the profile', answer.body, scene.profile);
        expectThat(
          answer.headers.has('set-cookie') === (field === 'password'),
          'a cookie that only a new password clears',
          answer,
        );
        if (form.password !== undefined) {
          await user.send(401, 'GET /auth/me');
          user.password = String(form.password);
          const token: string = (await cast.login(user)).body.token;
          user.send = (wanted, request, sent) => cast.anonymous.send(wanted, request, { token, ...sent });
        }
        await wantEverywhere(scene);
      } finally {
        // The next field is compared with what this one has left, right or wrong.
        scene.profile = (await user.send([200, 401], 'GET /profiles/me')).body;
      }
    },
  );
});

const POST_FIELDS: [field: string, form: Record<string, string | File>, changed: (answered: Post) => Partial<Post>][] =
  [
    ['title', { title: 'Another title' }, () => ({ title: 'Another title' })],
    ['text', { text: 'Another text' }, () => ({ text: 'Another text' })],
    ['image', { image: new File([samples.gif], 'a.gif', { type: 'image/gif' }) }, ({ image }) => ({ image })],
    ['remove_image', { remove_image: 'true' }, () => ({ image: null })],
  ];

const postRules = POST_FIELDS.map(([field, form, changed]) =>
  rule(
    `posts.edit.only.${field}`,
    `PUT /posts/edit with ${field} changes ${field} and nothing else: not likes, author or created_at. The post and all lists show the new value.`,
    async (cast) => {
      const { user, friend } = await subject(cast);
      const post = await publish(user, { title: ' A title ', text: 'Line one\nline two', image: png() });
      await friend.send(200, `POST /posts/like?id=${post.id}`);
      const answer = await user.send(200, `PUT /posts/edit?id=${post.id}`, { form });
      const expected = { ...post, like_count: 1, ...changed(answer.body) };
      if (field === 'image') expectThat(answer.body.image && answer.body.image !== post.image, 'a new image', answer);
      expectEqual(answer, 'the post', answer.body, expected);
      for (const [{ send }, liked_by_me] of [
        [user, false],
        [friend, true],
      ] as const) {
        const single = await send(200, `GET /posts/${post.id}`);
        expectEqual(single, 'the post', single.body, { ...expected, liked_by_me, comments: [] });
      }
      for (const path of ['/posts/me?limit=100', '/posts?limit=100']) {
        const list = await user.send(200, `GET ${path}`);
        const entry = list.body.find(({ id }: Post) => id === post.id);
        if (entry || path.includes('me')) expectEqual(list, 'the post in the list', entry, expected);
      }
    },
  ),
);

export const updates: Subject = {
  name: 'Updates of one field',
  rules: [...profileRules, ...postRules],
};
