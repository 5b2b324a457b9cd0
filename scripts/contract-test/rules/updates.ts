import type { Cast, Person } from '../cast.js';
import { same, want } from '../expect.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';
import { befriend, type Post, png, publish } from '../scenes.js';

interface Profile {
  id: number;
  name: string;
  username: string;
  profile_link: string | null;
  private: boolean;
}

/** A private account with a picture, a post and a friend, for these rules alone. */
const subject = (cast: Cast) =>
  cast.once('updated account', async () => {
    const [user, friend] = await Promise.all([cast.newcomer(), cast.newcomer()]);
    const form = { private: 'true', image: png(), name: 'Ada B. Carter' };
    const { body } = await user.ask(200, 'PUT /profiles/me', { form });
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
    const answer = await user.ask(200, `GET ${path}`);
    same(answer, 'the account', answer.body, account);
  }
  for (const [{ ask }, path] of [
    [user, '/profiles/me'],
    [user, `/profiles/${id}`],
    [friend, `/profiles/${id}`],
  ] as const) {
    const answer = await ask(200, `GET ${path}`);
    same(answer, 'the profile', answer.body, profile);
  }
  const friends = await friend.ask(200, 'GET /friends');
  same(friends, 'the entry of the friend', friends.body, [profile]);
  for (const path of [`/posts/${post.id}`, '/posts?limit=100']) {
    const answer = await friend.ask(200, `GET ${path}`);
    const found = [answer.body].flat().find((one: Post) => one.id === post.id);
    if (found) same(answer, 'author_username', found.author_username, username);
  }
  const own = await user.ask(200, 'GET /posts/me');
  same(own, 'author_username', own.body[0]?.author_username, username);
  if (profile_link) {
    const picture = await friend.ask(200, `GET ${profile_link}`);
    same(picture, 'the type of the picture', picture.headers.get('content-type')?.split('/')[0], 'image');
  }
}

/** Each field of the form, what is sent, and what that changes of the profile. */
const PROFILE_FIELDS: [
  field: string,
  form: (cast: Cast, user: Person) => Record<string, string | File>,
  changed: (form: Record<string, string | File>, answered: Profile) => Partial<Profile>,
][] = [
  ['name', () => ({ name: 'Another Name' }), ({ name }) => ({ name: String(name) })],
  ['username', (cast) => ({ username: cast.identity().username }), ({ username }) => ({ username: String(username) })],
  ['email', (cast) => ({ email: cast.identity().email }), () => ({})],
  ['private', () => ({ private: 'false' }), () => ({ private: false })],
  ['private.back', () => ({ private: 'true' }), () => ({ private: true })],
  [
    'image',
    () => ({ image: new File([samples.gif], 'a.gif', { type: 'image/gif' }) }),
    (_, { profile_link }) => ({ profile_link }),
  ],
  [
    'password',
    (cast, { password }) => ({ password: ` ${cast.identity().password}\u212b `, current_password: password }),
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
      const answer = await user.ask(200, 'PUT /profiles/me', { form });
      scene.profile = { ...before, ...changed(form, answer.body) };
      if (field === 'image') {
        want(answer.body.profile_link && answer.body.profile_link !== before.profile_link, 'a new picture', answer);
      }
      if (form.email !== undefined) user.email = String(form.email);
      try {
        same(answer, 'the profile', answer.body, scene.profile);
        want(
          answer.headers.has('set-cookie') === (field === 'password'),
          'a cookie that only a new password clears',
          answer,
        );
        if (form.password !== undefined) {
          await user.ask(401, 'GET /auth/me');
          user.password = String(form.password);
          const token: string = (await cast.login(user)).body.token;
          user.ask = (wanted, request, sent) => cast.nobody.ask(wanted, request, { token, ...sent });
        }
        await wantEverywhere(scene);
      } finally {
        // The next field is compared with what this one has left, right or wrong.
        scene.profile = (await user.ask([200, 401], 'GET /profiles/me')).body;
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
      await friend.ask(200, `POST /posts/like?id=${post.id}`);
      const answer = await user.ask(200, `PUT /posts/edit?id=${post.id}`, { form });
      const expected = { ...post, like_count: 1, ...changed(answer.body) };
      if (field === 'image') want(answer.body.image && answer.body.image !== post.image, 'a new image', answer);
      same(answer, 'the post', answer.body, expected);
      for (const [{ ask }, liked_by_me] of [
        [user, false],
        [friend, true],
      ] as const) {
        const single = await ask(200, `GET /posts/${post.id}`);
        same(single, 'the post', single.body, { ...expected, liked_by_me, comments: [] });
      }
      for (const path of ['/posts/me?limit=100', '/posts?limit=100']) {
        const list = await user.ask(200, `GET ${path}`);
        const entry = list.body.find(({ id }: Post) => id === post.id);
        if (entry || path.includes('me')) same(list, 'the post in the list', entry, expected);
      }
    },
  ),
);

export const updates: Subject = {
  name: 'Updates of one field',
  rules: [...profileRules, ...postRules],
};
