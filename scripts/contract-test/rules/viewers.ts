import { type CheckedResponse, type RequestContent, samples } from '../client/index.js';
import { expectEqual, expectThat } from '../expect.js';
import {
  findInFeed,
  type OwnedContent,
  PRIVACIES,
  type Privacy,
  pngFile,
  publish,
  UNUSED_ID,
  VIEWERS,
  type Viewer,
  type VisibilityFixture,
  visibilityFixture,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers, User } from '../users.js';

const ACCOUNT_DESCRIPTIONS: Record<Privacy, string> = {
  public: 'a public account',
  private: 'a private account',
  'was-public': 'an account that was public before and is private now',
  'was-private': 'an account that was private before and is public now',
};

const isPublic = (privacy: Privacy) => privacy === 'public' || privacy === 'was-private';

/** Returns whether an authenticated viewer may see the content of an account. */
const canSee = (viewer: Viewer, privacy: Privacy) => viewer === 'owner' || viewer === 'friend' || isPublic(privacy);

/** Describes the viewers who may see the content of an account. */
const audienceOf = (privacy: Privacy) =>
  isPublic(privacy)
    ? 'every authenticated user'
    : 'its owner and friends only: not friends of friends, strangers, users with a pending request or former friends';

/** Describes what other users get. Every user may see the content of a public account. */
const othersGet = (privacy: Privacy, response: string) =>
  isPublic(privacy) ? 'Requests without credentials return 401.' : `Other users get ${response}.`;

interface ViewerCase {
  viewer: Viewer;
  sender: Requester;
  /** The status for the owner's content: 200 if the viewer may see it, 404 if not, 401 without credentials. */
  expected: number;
}

function casesOf(users: TestUsers, { owned, viewers }: VisibilityFixture, privacy: Privacy): ViewerCase[] {
  const senders = { ...viewers, owner: owned[privacy].owner, loggedOut: users.anonymous };
  return VIEWERS.map((viewer) => {
    const expected = viewer === 'loggedOut' ? 401 : canSee(viewer, privacy) ? 200 : 404;
    return { viewer, sender: senders[viewer], expected };
  });
}

/** Runs a check for every viewer, concurrently. */
const forEachViewer = (cases: ViewerCase[], check: (testCase: ViewerCase) => Promise<void>) =>
  Promise.all(cases.map(check));

/** Checks that a 404 has the same body and the same header names as the 404 for a missing post or image. */
async function expectSameAsMissing(response: CheckedResponse, missing: () => Promise<CheckedResponse>): Promise<void> {
  if (response.status !== 404) return;
  const { body, headers } = await missing();
  expectEqual(response, 'the body, as for a missing one', response.body, body);
  // Headers of the connection, not of the response, depend on how often the connection was used.
  const namesOf = (all: Headers) => [...all.keys()].filter((name) => !/^(connection|keep-alive)$/.test(name));
  expectEqual(response, 'the names of the headers, as for a missing one', namesOf(response.headers), namesOf(headers));
}

/** Checks GET, HEAD, and GET with If-None-Match: the ETag, if it is given, and `*`. Returns the response to GET. */
async function expectReads({ sender, expected, viewer }: ViewerCase, path: string, missing: string, etag?: string) {
  const get = await sender.send(expected, `GET ${path}`);
  const head = await sender.send(expected, `HEAD ${path}`);
  expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
  await expectSameAsMissing(get, () => sender.send(404, `GET ${missing}`));
  const wanted = expected === 200 ? (etag === undefined ? [200, 304] : 304) : expected;
  for (const tag of new Set([etag ?? '*', '*'])) {
    const response = await sender.send(wanted, `GET ${path}`, { headers: { 'If-None-Match': tag } });
    if (expected !== 200) expectThat(!response.headers.has('etag'), `no ETag for ${viewer}`, response);
  }
  return get;
}

/** Checks which viewers can like or unlike a post. */
async function checkLikes(cases: ViewerCase[], owner: User, method: 'POST' | 'DELETE'): Promise<void> {
  // A new post, so that a like that is wrongly allowed fails this rule only.
  const post = await publish(owner);
  const allowed = cases.filter(({ expected }) => expected === 200);
  if (method === 'DELETE') {
    await Promise.all(allowed.map(({ sender }) => sender.send(200, `POST /posts/like?id=${post.id}`)));
  }
  for (const { sender, expected } of cases) {
    const response = await sender.send(expected, `${method} /posts/like?id=${post.id}`);
    await expectSameAsMissing(response, () => sender.send(404, `${method} /posts/like?id=${UNUSED_ID}`));
  }
  const liked = method === 'POST';
  for (const { sender } of allowed) {
    const response = await sender.send(200, `GET /posts/${post.id}`);
    const { like_count, liked_by_me } = response.body;
    expectEqual(response, 'like_count and liked_by_me', [like_count, liked_by_me], [liked ? allowed.length : 0, liked]);
  }
}

/** Checks that only the author of a post can send a request that changes it. */
async function checkAuthorOnly(cases: ViewerCase[], owner: User, operation: string, content?: RequestContent) {
  const post = await publish(owner);
  for (const { sender, viewer } of cases) {
    if (viewer === 'owner') continue;
    const response = await sender.send(viewer === 'loggedOut' ? 401 : 404, `${operation}?id=${post.id}`, content);
    await expectSameAsMissing(response, () => sender.send(404, `${operation}?id=${UNUSED_ID}`, content));
  }
  const response = await owner.send(200, `GET /posts/${post.id}`);
  expectEqual(response, 'the post, unchanged', response.body, { ...post, comments: [] });
  await owner.send(200, `${operation}?id=${post.id}`, content);
}

/** The stored images of an account, each with its path and the path of a missing one. */
const IMAGES: [id: string, description: string, pathOf: (content: OwnedContent) => string, missing: string][] = [
  ['image', 'the image of a post', ({ post }) => post.image, '/posts/image/none.png'],
  ['picture', 'the profile picture', ({ picture }) => picture, '/profiles/image/none.png'],
];

type VisibilityRule = [
  id: string,
  sentence: (account: string, privacy: Privacy) => string,
  check: (cases: ViewerCase[], content: OwnedContent, privacy: Privacy) => Promise<unknown>,
];

/** The rules that are checked for every privacy of an account. */
const VISIBILITY_RULES: VisibilityRule[] = [
  [
    'post',
    (account, privacy) =>
      `GET, HEAD and conditional GET return a post of ${account} to ${audienceOf(privacy)}. ${othersGet(privacy, 'the same 404 as for a missing post')}`,
    (cases, { post }) =>
      forEachViewer(cases, async (testCase) => {
        const response = await expectReads(testCase, `/posts/${post.id}`, `/posts/${UNUSED_ID}`);
        if (testCase.expected !== 200) return;
        const { like_count, liked_by_me } = response.body;
        expectEqual(response, 'the post', response.body, { ...post, like_count, liked_by_me, comments: [] });
      }),
  ],
  [
    'feed',
    (account, privacy) => `A post of ${account} appears in the feed of ${audienceOf(privacy)}.`,
    (cases, { post }) =>
      forEachViewer(cases, async ({ viewer, sender, expected }) => {
        if (viewer === 'loggedOut') return void (await sender.send(401, 'GET /posts'));
        // A service may read pages of different sizes differently.
        for (const limit of [20, 100]) {
          const { found, response } = await findInFeed(sender, post, limit);
          expectEqual(response, `whether the feed has post ${post.id}`, found, expected === 200);
        }
      }),
  ],
  ...IMAGES.map(
    ([id, description, pathOf, missing]): VisibilityRule => [
      id,
      (account, privacy) =>
        `GET, HEAD and conditional GET return ${description} of ${account} to ${audienceOf(privacy)}. ${othersGet(privacy, 'the same 404 as for a missing image, even with its ETag')}`,
      async (cases, content) => {
        const path = pathOf(content);
        const etag = (await content.owner.send(200, `GET ${path}`)).headers.get('etag') ?? '';
        await forEachViewer(cases, async (testCase) => {
          const response = await expectReads(testCase, path, missing, etag);
          if (response.status === 200)
            expectThat(response.bytes.equals(samples.png), 'the bytes of the image', response);
        });
      },
    ],
  ),
  [
    'profile',
    (account, privacy) =>
      `The full profile of ${account} is visible to ${audienceOf(privacy)}. ${othersGet(privacy, 'only id, name and username')}`,
    (cases, { owner, picture }, privacy) =>
      forEachViewer(cases, async ({ viewer, sender, expected }) => {
        const wanted = viewer === 'loggedOut' ? 401 : 200;
        const response = await sender.send(wanted, `GET /profiles/${owner.id}`);
        const head = await sender.send(wanted, `HEAD /profiles/${owner.id}`);
        expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
        if (viewer === 'loggedOut') return;
        const { id, name, username } = owner;
        const full = { id, name, username, profile_link: picture, private: !isPublic(privacy) };
        expectEqual(response, 'the profile', response.body, expected === 200 ? full : { id, name, username });
      }),
  ],
  [
    'like',
    (account, privacy) =>
      `A post of ${account} can be liked by ${audienceOf(privacy)}. ${othersGet(privacy, 'the same 404 as for a missing post, and their likes do not count')}`,
    (cases, { owner }) => checkLikes(cases, owner, 'POST'),
  ],
  [
    'unlike',
    (account, privacy) =>
      `A post of ${account} can be unliked by ${audienceOf(privacy)}. ${othersGet(privacy, 'the same 404 as for a missing post')}`,
    (cases, { owner }) => checkLikes(cases, owner, 'DELETE'),
  ],
  [
    'edit',
    (account) =>
      `A post of ${account} can be edited by its author only. For other users the request returns 404, as for a missing post, and changes nothing.`,
    (cases, { owner }) =>
      checkAuthorOnly(cases, owner, 'PUT /posts/edit', { form: { title: 'Changed', image: pngFile() } }),
  ],
  [
    'delete',
    (account) =>
      `A post of ${account} can be deleted by its author only. For other users the request returns 404, as for a missing post, and changes nothing.`,
    (cases, { owner }) => checkAuthorOnly(cases, owner, 'DELETE /posts/delete'),
  ],
];

export const viewers: Subject = {
  name: 'Visibility',
  rules: VISIBILITY_RULES.flatMap(([id, sentence, check]) =>
    PRIVACIES.map((privacy) =>
      rule(`visibility.${id}.${privacy}`, sentence(ACCOUNT_DESCRIPTIONS[privacy], privacy), async (users) => {
        const fixture = await visibilityFixture(users);
        await check(casesOf(users, fixture, privacy), fixture.owned[privacy], privacy);
      }),
    ),
  ),
};
