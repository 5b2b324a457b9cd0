import { fieldsOf, rule, type Subject, same, want } from '../rule.js';
import { OUTSIDERS, openHouse, png, type Seclusion, seclusion } from '../scenes.js';

type Viewer = Exclude<keyof Seclusion, 'post' | 'picture'>;

const WHO: Record<Viewer, string> = {
  owner: 'the owner',
  friend: 'a friend',
  requester: 'somebody who has asked the owner',
  requested: 'somebody whom the owner has asked',
  stranger: 'a stranger',
  exFriend: 'somebody who was a friend',
};

const ROUTES: [what: string, request: (seclusion: Seclusion) => string, where: string][] = [
  ['reads the post', ({ post }) => `GET /posts/${post.id}`, 'Visibility rules 3'],
  ['reads the head of the post', ({ post }) => `HEAD /posts/${post.id}`, 'Visibility rules 3'],
  ['downloads the post’s image', ({ post }) => `GET ${post.image}`, 'Visibility rules 5'],
  ['downloads the profile picture', ({ picture }) => `GET ${picture}`, 'Visibility rules 5'],
  ['reads the head of the profile picture', ({ picture }) => `HEAD ${picture}`, 'Visibility rules 5'],
];

const idsOf = (posts: { id: number }[]) => posts.map(({ id }) => id);

/** Who may see what of a private account. */
export const visibility: Subject = {
  name: 'Visibility',
  rules: [
    rule(
      'Visibility rules 2',
      'Public account: every authenticated user sees its posts and its full profile',
      async (cast) => {
        const { owner, visitor, post, picture } = await openHouse(cast);
        await visitor.ask(200, `GET /posts/${post.id}`);
        const profile = await visitor.ask(200, `GET /profiles/${owner.id}`);
        same(profile, 'the fields', fieldsOf(profile.body), 'id name private profile_link username');
        for (const path of [post.image, picture]) await visitor.ask(200, `GET ${path}`);
        await visitor.ask(200, `POST /posts/like?id=${post.id}`);
        await visitor.ask(200, `DELETE /posts/like?id=${post.id}`);
      },
    ),

    ...ROUTES.flatMap(([what, request, where]) =>
      (Object.keys(WHO) as Viewer[]).map((viewer) => {
        const sees = viewer === 'owner' || viewer === 'friend';
        const verdict = sees ? '200' : '404, as if there were nothing';
        return rule(where, `Private account: ${WHO[viewer]} ${what}: ${verdict}`, async (cast) => {
          const scene = await seclusion(cast);
          await scene[viewer].ask(sees ? 200 : 404, request(scene));
        });
      }),
    ),

    ...(Object.keys(WHO) as Viewer[]).map((viewer) => {
      const sees = viewer === 'owner' || viewer === 'friend';
      const shown = sees ? 'the full profile' : 'id, name, username and nothing more';
      return rule('Visibility rules 3', `Private account: to ${WHO[viewer]} the profile is ${shown}`, async (cast) => {
        const scene = await seclusion(cast);
        const answer = await scene[viewer].ask(200, `GET /profiles/${scene.owner.id}`);
        const fields = sees ? 'id name private profile_link username' : 'id name username';
        same(answer, 'the fields', fieldsOf(answer.body), fields);
      });
    }),

    rule('Visibility rules 3', 'Others have the post filtered out of the feed', async (cast) => {
      const scene = await seclusion(cast);
      for (const outsider of OUTSIDERS) {
        for (const limit of [20, 100]) {
          const answer = await scene[outsider].ask(200, `GET /posts?limit=${limit}`);
          want(!idsOf(answer.body).includes(scene.post.id), 'a feed without the private account’s post', answer);
        }
      }
    }),

    rule('Visibility rules 3', 'The owner and friends have the post in the feed', async (cast) => {
      const { owner, friend, post } = await seclusion(cast);
      for (const { ask } of [owner, friend]) {
        const answer = await ask(200, 'GET /posts?limit=100');
        want(
          answer.body.length === 100 || idsOf(answer.body).includes(post.id),
          'the private account’s post in the feed',
          answer,
        );
      }
    }),

    rule(
      'Visibility rules 4',
      'Only posts the requester can see can be liked or unliked. Others give 404',
      async (cast) => {
        const scene = await seclusion(cast);
        for (const outsider of OUTSIDERS) {
          await scene[outsider].ask(404, `POST /posts/like?id=${scene.post.id}`);
          await scene[outsider].ask(404, `DELETE /posts/like?id=${scene.post.id}`);
        }
        const answer = await scene.owner.ask(200, `GET /posts/${scene.post.id}`);
        same(answer, 'like_count', answer.body.like_count, 0);
      },
    ),

    rule(
      'Visibility rules 4',
      'so hidden posts are not revealed: the body of a 404 is that of a post that is missing',
      async (cast) => {
        const { stranger, post } = await seclusion(cast);
        for (const request of ['GET /posts/', 'POST /posts/like?id=', 'DELETE /posts/like?id=']) {
          const missing = await stranger.ask(404, `${request}9007199254740991`);
          const hidden = await stranger.ask(404, `${request}${post.id}`);
          same(hidden, 'the body, as for a missing post', hidden.body, missing.body);
        }
      },
    ),

    rule('Visibility rules 3', 'Outsiders cannot edit or delete a hidden post: 404', async (cast) => {
      const { owner, stranger, friend, post } = await seclusion(cast);
      for (const { ask } of [stranger, friend]) {
        await ask(404, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Mine now', image: png() } });
        await ask(404, `DELETE /posts/delete?id=${post.id}`);
      }
      await owner.ask(200, `GET /posts/${post.id}`);
    }),

    rule('Authentication 1', 'Nobody sees anything without credentials, of a public account either', async (cast) => {
      const { owner, post, picture } = await openHouse(cast);
      for (const path of ['/posts', '/posts/me', `/posts/${post.id}`, `/profiles/${owner.id}`, post.image, picture]) {
        await cast.nobody.ask(401, `GET ${path}`);
        await cast.nobody.ask(401, `HEAD ${path}`);
      }
    }),
  ],
};
