import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectThat, fieldsOf } from '../expect.js';
import {
  BRIEF_PROFILE_FIELDS,
  FULL_PROFILE_FIELDS,
  findInFeed,
  type OwnedContent,
  PRIVACIES,
  type Privacy,
  png,
  publish,
  UNUSED_ID,
  VIEWERS,
  type Viewer,
  type VisibilityFixture,
  visibilityFixture,
} from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers, User } from '../users.js';

const ACCOUNT_DESCRIPTIONS: Record<Privacy, string> = {
  public: 'a public account',
  private: 'a private account',
  'was-public': 'an account that was public before and is private now',
  'was-private': 'an account that was private before and is public now',
};

const isPublic = (privacy: Privacy) => privacy === 'public' || privacy === 'was-private';

/** Returns whether a viewer may see the content of an account. */
const canSee = (viewer: Viewer, privacy: Privacy) =>
  viewer === 'owner' || viewer === 'friend' || (isPublic(privacy) && viewer !== 'loggedOut');

/** Describes the viewers who may see the content of an account. */
const audienceOf = (privacy: Privacy) =>
  isPublic(privacy)
    ? 'every authenticated user'
    : 'its owner and friends only: not friends of friends, strangers, users with a pending request or former friends';

/** Describes what other users get. Every user may see the content of a public account. */
const othersGet = (privacy: Privacy, response: string) =>
  isPublic(privacy) ? 'Requests without credentials return 401.' : `Other users get ${response}.`;

interface ViewerCase extends OwnedContent {
  viewer: Viewer;
  sender: Requester;
  user: User | undefined;
  /** The status for the owner's content: 200 if the viewer may see it, 404 if not, 401 without credentials. */
  expected: number;
}

function casesOf(users: TestUsers, { owned, viewers }: VisibilityFixture, privacy: Privacy): ViewerCase[] {
  const content = owned[privacy];
  return VIEWERS.map((viewer) => {
    const user = viewer === 'owner' ? content.owner : viewer === 'loggedOut' ? undefined : viewers[viewer];
    const expected = viewer === 'loggedOut' ? 401 : canSee(viewer, privacy) ? 200 : 404;
    return { ...content, viewer, user, sender: user ?? users.anonymous, expected };
  });
}

/** Runs a check for every viewer, concurrently. */
const forEachViewer = async (users: TestUsers, privacy: Privacy, check: (testCase: ViewerCase) => Promise<void>) => {
  await Promise.all(casesOf(users, await visibilityFixture(users), privacy).map(check));
};

/** Checks that a 404 has the same body as the 404 for a missing post, image or user. */
async function expectSameAsMissing(response: CheckedResponse, missing: () => Promise<CheckedResponse>): Promise<void> {
  if (response.status === 404)
    expectEqual(response, 'the body, as for a missing one', response.body, (await missing()).body);
}

/** Checks GET, HEAD and a GET with If-None-Match: the ETag, or `*` if none is given. Returns the response to GET. */
async function expectReads(
  { sender, expected, viewer }: ViewerCase,
  path: string,
  missing: string,
  etag?: string,
): Promise<CheckedResponse> {
  const get = await sender.send(expected, `GET ${path}`);
  const head = await sender.send(expected, `HEAD ${path}`);
  expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
  await expectSameAsMissing(get, () => sender.send(404, `GET ${missing}`));
  const conditional: RequestOptions = { headers: { 'If-None-Match': etag ?? '*' } };
  const wanted = expected === 200 ? (etag === undefined ? [200, 304] : 304) : expected;
  const response = await sender.send(wanted, `GET ${path}`, conditional);
  if (expected !== 200) expectThat(!response.headers.has('etag'), `no ETag for ${viewer}`, response);
  return get;
}

/** Checks that a response of status 200 has the bytes of the image that all owners upload. */
const expectPicture = (response: CheckedResponse) =>
  expectThat(response.status !== 200 || response.bytes.equals(samples.png), 'the bytes of the image', response);

const etagOf = async ({ owner }: OwnedContent, path: string) =>
  (await owner.send(200, `GET ${path}`)).headers.get('etag') ?? '';

const profileFields = (expected: number) => (expected === 200 ? FULL_PROFILE_FIELDS : BRIEF_PROFILE_FIELDS);

/** Checks which viewers can like or unlike a post. */
async function checkLikes(users: TestUsers, privacy: Privacy, method: 'POST' | 'DELETE'): Promise<void> {
  const fixture = await visibilityFixture(users);
  // A new post, so that a like that is wrongly allowed fails this rule only.
  const post = await publish(fixture.owned[privacy].owner);
  const cases = casesOf(users, fixture, privacy);
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
async function checkAuthorOnly(
  users: TestUsers,
  privacy: Privacy,
  request: (id: number) => [string, RequestOptions],
): Promise<void> {
  const fixture = await visibilityFixture(users);
  const { owner } = fixture.owned[privacy];
  const post = await publish(owner);
  for (const { sender, viewer } of casesOf(users, fixture, privacy)) {
    if (viewer === 'owner') continue;
    const response = await sender.send(viewer === 'loggedOut' ? 401 : 404, ...request(post.id));
    await expectSameAsMissing(response, () => sender.send(404, ...request(UNUSED_ID)));
  }
  const response = await owner.send(200, `GET /posts/${post.id}`);
  expectEqual(response, 'the post, unchanged', response.body, { ...post, comments: [] });
  await owner.send(200, ...request(post.id));
}

/** The rules that are checked for every privacy of an account. */
const VISIBILITY_RULES: [
  id: string,
  sentence: (account: string, privacy: Privacy) => string,
  check: (users: TestUsers, privacy: Privacy) => Promise<void>,
][] = [
  [
    'post',
    (account, privacy) =>
      `GET, HEAD and conditional GET return a post of ${account} to ${audienceOf(privacy)}. ${othersGet(privacy, '404')}`,
    (users, privacy) =>
      forEachViewer(users, privacy, async (testCase) => {
        const response = await expectReads(testCase, `/posts/${testCase.post.id}`, `/posts/${UNUSED_ID}`);
        if (testCase.expected !== 200) return;
        const { like_count, liked_by_me } = response.body;
        expectEqual(response, 'the post', response.body, { ...testCase.post, like_count, liked_by_me, comments: [] });
      }),
  ],
  [
    'feed',
    (account, privacy) => `A post of ${account} appears in the feed of ${audienceOf(privacy)}.`,
    (users, privacy) =>
      forEachViewer(users, privacy, async ({ user, sender, post, expected }) => {
        if (!user) return void (await sender.send(401, 'GET /posts'));
        // A service may read pages of different sizes differently.
        for (const limit of [20, 100]) {
          const { found, response } = await findInFeed(sender, post, limit);
          expectThat(
            found === (expected === 200),
            `a feed ${expected === 200 ? 'with' : 'without'} post ${post.id}`,
            response,
          );
        }
      }),
  ],
  [
    'image',
    (account, privacy) =>
      `GET, HEAD and conditional GET return the image of a post of ${account} to ${audienceOf(privacy)}. ${othersGet(privacy, '404, even with its ETag')}`,
    async (users, privacy) => {
      const { owned } = await visibilityFixture(users);
      const etag = await etagOf(owned[privacy], owned[privacy].post.image);
      await forEachViewer(users, privacy, async (testCase) => {
        expectPicture(await expectReads(testCase, testCase.post.image, '/posts/image/none.png', etag));
      });
    },
  ],
  [
    'picture',
    (account, privacy) =>
      `GET, HEAD and conditional GET return the profile picture of ${account} to ${audienceOf(privacy)}. ${othersGet(privacy, '404, even with its ETag')}`,
    async (users, privacy) => {
      const { owned } = await visibilityFixture(users);
      const etag = await etagOf(owned[privacy], owned[privacy].picture);
      await forEachViewer(users, privacy, async (testCase) => {
        expectPicture(await expectReads(testCase, testCase.picture, '/profiles/image/none.png', etag));
      });
    },
  ],
  [
    'profile',
    (account, privacy) =>
      `The full profile of ${account} is visible to ${audienceOf(privacy)}. ${othersGet(privacy, 'only id, name and username')}`,
    (users, privacy) =>
      forEachViewer(users, privacy, async ({ sender, user, owner, picture, expected }) => {
        const wanted = user ? 200 : 401;
        const response = await sender.send(wanted, `GET /profiles/${owner.id}`);
        const head = await sender.send(wanted, `HEAD /profiles/${owner.id}`);
        expectEqual(head, 'the bytes of a HEAD', head.bytes.length, 0);
        if (!user) return;
        expectEqual(response, 'the fields', fieldsOf(response.body), profileFields(expected));
        const { id, name, username } = owner;
        const full = { id, name, username, profile_link: picture, private: !isPublic(privacy) };
        expectEqual(response, 'the profile', response.body, expected === 200 ? full : { id, name, username });
      }),
  ],
  [
    'like',
    (account, privacy) =>
      `A post of ${account} can be liked by ${audienceOf(privacy)}. ${othersGet(privacy, '404, and their likes do not count')}`,
    (users, privacy) => checkLikes(users, privacy, 'POST'),
  ],
  [
    'unlike',
    (account, privacy) => `A post of ${account} can be unliked by ${audienceOf(privacy)}. ${othersGet(privacy, '404')}`,
    (users, privacy) => checkLikes(users, privacy, 'DELETE'),
  ],
  [
    'edit',
    (account) =>
      `A post of ${account} can be edited by its author only. For other users the request returns 404, as for a missing post, and changes nothing.`,
    (users, privacy) =>
      checkAuthorOnly(users, privacy, (id) => [
        `PUT /posts/edit?id=${id}`,
        { form: { title: 'Changed', image: png() } },
      ]),
  ],
  [
    'delete',
    (account) =>
      `A post of ${account} can be deleted by its author only. For other users the request returns 404, as for a missing post, and changes nothing.`,
    (users, privacy) => checkAuthorOnly(users, privacy, (id) => [`DELETE /posts/delete?id=${id}`, {}]),
  ],
];

/** Every kind of viewer with the content of every kind of account. */
export const viewers: Subject = {
  name: 'Visibility',
  rules: VISIBILITY_RULES.flatMap(([id, sentence, check]) =>
    PRIVACIES.map((privacy) =>
      rule(`visibility.${id}.${privacy}`, sentence(ACCOUNT_DESCRIPTIONS[privacy], privacy), (users) =>
        check(users, privacy),
      ),
    ),
  ),
};
