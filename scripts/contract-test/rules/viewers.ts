import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectThat, fieldsOf } from '../expect.js';
import {
  type Audience,
  audience,
  feedHas,
  NO_ID,
  type Owned,
  PRIVACIES,
  type Privacy,
  png,
  publish,
  VIEWERS,
  type Viewer,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers, User } from '../users.js';

const ACCOUNT: Record<Privacy, string> = {
  public: 'a public account',
  private: 'a private account',
  'was-public': 'an account that was public and is private now',
  'was-private': 'an account that was private and is public now',
};

const isPublic = (privacy: Privacy) => privacy === 'public' || privacy === 'was-private';

/** The whole rule of visibility. */
const sees = (viewer: Viewer, privacy: Privacy) =>
  viewer === 'owner' || viewer === 'friend' || (isPublic(privacy) && viewer !== 'loggedOut');

const whoSees = (privacy: Privacy) =>
  isPublic(privacy)
    ? 'every user who is logged in'
    : 'its owner and friends only: not friends of friends, strangers, users with a pending request or former friends';

interface Case extends Owned {
  viewer: Viewer;
  asker: Requester;
  user: User | undefined;
  /** 200 for who may see what the owner has, 404 for who may not, 401 without credentials. */
  expected: number;
}

function casesOf(cast: TestUsers, { owned, viewers }: Audience, privacy: Privacy): Case[] {
  const of = owned[privacy];
  return VIEWERS.map((viewer) => {
    const user = viewer === 'owner' ? of.owner : viewer === 'loggedOut' ? undefined : viewers[viewer];
    const expected = viewer === 'loggedOut' ? 401 : sees(viewer, privacy) ? 200 : 404;
    return { ...of, viewer, user, asker: user ?? cast.anonymous, expected };
  });
}

/** Checks every viewer at the same time. */
const everyViewer = async (cast: TestUsers, privacy: Privacy, check: (one: Case) => Promise<void>) => {
  await Promise.all(casesOf(cast, await audience(cast), privacy).map(check));
};

async function asMissing(answer: CheckedResponse, missing: () => Promise<CheckedResponse>): Promise<void> {
  if (answer.status === 404)
    expectEqual(answer, 'the body, as for one that does not exist', answer.body, (await missing()).body);
}

/** GET, HEAD and, with the tag of the copy that others may have, a conditional GET. */
async function reads(
  { asker, expected, viewer }: Case,
  path: string,
  missing: string,
  tag?: string,
): Promise<CheckedResponse> {
  const get = await asker.send(expected, `GET ${path}`);
  const head = await asker.send(expected, `HEAD ${path}`);
  expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
  await asMissing(get, () => asker.send(404, `GET ${missing}`));
  const conditional: RequestOptions = { headers: { 'If-None-Match': tag ?? '*' } };
  const wanted = expected === 200 ? (tag === undefined ? [200, 304] : 304) : expected;
  const answer = await asker.send(wanted, `GET ${path}`, conditional);
  if (expected !== 200) expectThat(!answer.headers.has('etag'), `no ETag for ${viewer}`, answer);
  return get;
}

const tagOf = async ({ owner }: Owned, path: string) =>
  (await owner.send(200, `GET ${path}`)).headers.get('etag') ?? '';

const profileFields = (expected: number) =>
  expected === 200 ? 'id name private profile_link username' : 'id name username';

/** Changes that a user makes to a post, and for whom they succeed. */
async function likeEach(cast: TestUsers, privacy: Privacy, method: 'POST' | 'DELETE'): Promise<void> {
  const scene = await audience(cast);
  // A post of its own: a like that is wrongly allowed shows in this rule alone.
  const post = await publish(scene.owned[privacy].owner);
  const cases = casesOf(cast, scene, privacy);
  const allowed = cases.filter(({ expected }) => expected === 200);
  if (method === 'DELETE') {
    await Promise.all(allowed.map(({ asker }) => asker.send(200, `POST /posts/like?id=${post.id}`)));
  }
  for (const { asker, expected } of cases) {
    const answer = await asker.send(expected, `${method} /posts/like?id=${post.id}`);
    await asMissing(answer, () => asker.send(404, `${method} /posts/like?id=${NO_ID}`));
  }
  const liked = method === 'POST';
  for (const { asker } of allowed) {
    const answer = await asker.send(200, `GET /posts/${post.id}`);
    const { like_count, liked_by_me } = answer.body;
    expectEqual(answer, 'like_count and liked_by_me', [like_count, liked_by_me], [liked ? allowed.length : 0, liked]);
  }
}

async function changeEach(
  cast: TestUsers,
  privacy: Privacy,
  request: (id: number) => [string, RequestOptions],
): Promise<void> {
  const scene = await audience(cast);
  const { owner } = scene.owned[privacy];
  const post = await publish(owner);
  for (const { asker, viewer } of casesOf(cast, scene, privacy)) {
    if (viewer === 'owner') continue;
    const answer = await asker.send(viewer === 'loggedOut' ? 401 : 404, ...request(post.id));
    await asMissing(answer, () => asker.send(404, ...request(NO_ID)));
  }
  const answer = await owner.send(200, `GET /posts/${post.id}`);
  expectEqual(answer, 'the post, unchanged', answer.body, { ...post, comments: [] });
  await owner.send(200, ...request(post.id));
}

/** What viewers do, and the sentence that decides it. */
const ROWS: [
  id: string,
  sentence: (account: string, who: string) => string,
  check: (cast: TestUsers, privacy: Privacy) => Promise<void>,
][] = [
  [
    'post',
    (account, who) => `A post of ${account} is visible to ${who}, by GET, HEAD and conditional GET. Others get 404.`,
    (cast, privacy) =>
      everyViewer(cast, privacy, async (one) => {
        const answer = await reads(one, `/posts/${one.post.id}`, `/posts/${NO_ID}`);
        if (one.expected !== 200) return;
        const { like_count, liked_by_me } = answer.body;
        expectEqual(answer, 'the post', answer.body, { ...one.post, like_count, liked_by_me, comments: [] });
      }),
  ],
  [
    'feed',
    (account, who) => `A post of ${account} is in the feed of ${who}.`,
    (cast, privacy) =>
      everyViewer(cast, privacy, async ({ user, asker, post, expected }) => {
        if (!user) return void (await asker.send(401, 'GET /posts'));
        // A service may read pages of different sizes in different ways.
        for (const limit of [20, 100]) {
          const { found, answer } = await feedHas(asker, post, limit);
          expectThat(
            found === (expected === 200),
            `a feed ${expected === 200 ? 'with' : 'without'} post ${post.id}`,
            answer,
          );
        }
      }),
  ],
  [
    'image',
    (account, who) =>
      `The image of a post of ${account} can be downloaded by ${who}, by GET, HEAD and conditional GET. Others get 404, also with the ETag of a copy.`,
    async (cast, privacy) => {
      const { owned } = await audience(cast);
      const tag = await tagOf(owned[privacy], owned[privacy].post.image);
      await everyViewer(cast, privacy, async (one) => {
        await reads(one, one.post.image, '/posts/image/none.png', tag);
      });
    },
  ],
  [
    'picture',
    (account, who) =>
      `The profile picture of ${account} can be downloaded by ${who}, by GET, HEAD and conditional GET. Others get 404, also with the ETag of a copy.`,
    async (cast, privacy) => {
      const { owned } = await audience(cast);
      const tag = await tagOf(owned[privacy], owned[privacy].picture);
      await everyViewer(cast, privacy, async (one) => {
        await reads(one, one.picture, '/profiles/image/none.png', tag);
      });
    },
  ],
  [
    'profile',
    (account, who) =>
      `The full profile of ${account} is visible to ${who}. Other users get id, name and username, without profile_link and private.`,
    (cast, privacy) =>
      everyViewer(cast, privacy, async ({ asker, user, owner, picture, expected }) => {
        const wanted = user ? 200 : 401;
        const answer = await asker.send(wanted, `GET /profiles/${owner.id}`);
        const head = await asker.send(wanted, `HEAD /profiles/${owner.id}`);
        expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
        if (!user) return;
        expectEqual(answer, 'the fields', fieldsOf(answer.body), profileFields(expected));
        const { id, name, username } = owner;
        const full = { id, name, username, profile_link: picture, private: !isPublic(privacy) };
        expectEqual(answer, 'the profile', answer.body, expected === 200 ? full : { id, name, username });
      }),
  ],
  [
    'like',
    (account, who) => `A post of ${account} can be liked by ${who}. Others get 404, and the like does not count.`,
    (cast, privacy) => likeEach(cast, privacy, 'POST'),
  ],
  [
    'unlike',
    (account, who) => `A post of ${account} can be unliked by ${who}. Others get 404.`,
    (cast, privacy) => likeEach(cast, privacy, 'DELETE'),
  ],
  [
    'edit',
    (account) =>
      `A post of ${account} can be edited by its author only. Everybody else gets 404, as for a post that does not exist, and the post stays as it is.`,
    (cast, privacy) =>
      changeEach(cast, privacy, (id) => [`PUT /posts/edit?id=${id}`, { form: { title: 'Changed', image: png() } }]),
  ],
  [
    'delete',
    (account) =>
      `A post of ${account} can be deleted by its author only. Everybody else gets 404, as for a post that does not exist, and the post stays.`,
    (cast, privacy) => changeEach(cast, privacy, (id) => [`DELETE /posts/delete?id=${id}`, {}]),
  ],
];

/** Every viewer of every kind of account, on everything that an account has. */
export const viewers: Subject = {
  name: 'Visibility',
  rules: ROWS.flatMap(([id, sentence, check]) =>
    PRIVACIES.map((privacy) =>
      rule(`visibility.${id}.${privacy}`, sentence(ACCOUNT[privacy], whoSees(privacy)), (cast) => check(cast, privacy)),
    ),
  ),
};
