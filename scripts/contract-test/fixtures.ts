import type { components } from '../../generated/types.js';
import { type CheckedResponse, type RequestContent, samples } from './client/index.js';
import { expectThat } from './expect.js';
import type { Requester, TestUsers, User } from './users.js';

export type Post = components['schemas']['Post'];

export const pngFile = () => new File([samples.png], 'a picture.png', { type: 'image/png' });

/** Creates a post and returns it. */
export async function publish(author: User, form: Record<string, string | File> = {}): Promise<Post> {
  return (await author.send(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text', ...form } })).body;
}

/**
 * Searches the feed for a post. Returns whether it was found, and the last page that was read. Ids ascend with time, so the
 * search ends at the first page of older posts. Pages overlap, because posts may be deleted or hidden meanwhile.
 */
export async function findInFeed(
  { send }: Requester,
  { id }: Pick<Post, 'id'>,
  limit: number,
): Promise<{ found: boolean; response: CheckedResponse }> {
  let previousIds: number[] = [];
  let repetitions = 0;
  for (let offset = 0; ; offset += limit - 5) {
    const response = await send(200, `GET /posts?limit=${limit}&offset=${offset}`);
    const ids = idsOf(response.body as Post[]);
    const found = ids.includes(id);
    if (found || ids.length < limit || ids.every((other) => other < id)) return { found, response };
    // Otherwise the search would not end on a service that ignores the offset. New posts may cause a single repetition.
    repetitions = ids.join() === previousIds.join() ? repetitions + 1 : 0;
    expectThat(repetitions < 3, `other posts with offset=${offset}`, response);
    previousIds = ids;
  }
}

/** Makes two users friends: `one` sends the request. */
export const makeFriends = async (one: User, other: User) => {
  await one.send(200, `POST /friends/request?to=${other.id}`);
  await other.send(200, `POST /friends/accept?from=${one.id}`);
};

/** Returns 12 shared users, more than fit on a small page of a list. */
export const manyUsers = (users: TestUsers): Promise<User[]> =>
  users.shared('many users', () => Promise.all(Array.from({ length: 12 }, () => users.register())));

/** Removes the friendship or the friend request between two users, if there is one. */
export async function clearRelation(one: User, other: User): Promise<void> {
  await one.send([200, 404], `DELETE /friends/remove?id=${other.id}`);
  await one.send([200, 404], `POST /friends/cancel?to=${other.id}`);
  await one.send([200, 404], `POST /friends/decline?from=${other.id}`);
}

/** The privacy of an account. `was-public` accounts are private now, `was-private` ones are public now. */
export const PRIVACIES = ['public', 'private', 'was-public', 'was-private'] as const;
export type Privacy = (typeof PRIVACIES)[number];

const OTHER_USERS = ['friend', 'friendOfFriend', 'stranger', 'requester', 'requested', 'formerFriend'] as const;

/** The relations of a viewer to an owner. The owner sent `requested` a friend request. */
export const VIEWERS = ['owner', ...OTHER_USERS, 'loggedOut'] as const;
export type Viewer = (typeof VIEWERS)[number];

/** An account, its picture and its post with an image. */
export interface OwnedContent {
  owner: User;
  post: Post & { image: string };
  picture: string;
}

/** Gives an account a picture and a post with an image. */
export async function addContent(owner: User, isPrivate = false): Promise<OwnedContent> {
  const form = { private: String(isPrivate), image: pngFile() };
  const picture = (await owner.send(200, 'PUT /profiles/me', { form })).body.profile_link;
  const post = (await publish(owner, { image: pngFile() })) as OwnedContent['post'];
  return { owner, post, picture };
}

/** Four owners, one for each privacy, and viewers with the same relation to each. Rules must not change these accounts. */
export interface VisibilityFixture {
  owned: Record<Privacy, OwnedContent>;
  viewers: Record<(typeof OTHER_USERS)[number], User>;
}

const setPrivate = (owner: User, value: boolean) =>
  owner.send(200, 'PUT /profiles/me', { form: { private: String(value) } });

/**
 * Creates an owner's content and relations to the viewers. Some viewers read the content before they lose access to it, so that
 * the rules detect permissions that a service has cached.
 */
async function createOwned(
  owner: User,
  viewers: VisibilityFixture['viewers'],
  privacy: Privacy,
): Promise<OwnedContent> {
  const isPrivate = privacy === 'private' || privacy === 'was-private';
  const content = await addContent(owner, isPrivate);
  const { post, picture } = content;
  const { friend, requester, requested, formerFriend, stranger } = viewers;
  await makeFriends(friend, owner);
  await makeFriends(formerFriend, owner);
  await requester.send(200, `POST /friends/request?to=${owner.id}`);
  await owner.send(200, `POST /friends/request?to=${requested.id}`);
  const readers = isPrivate ? [friend, formerFriend] : [friend, formerFriend, stranger];
  for (const { send } of readers) {
    await Promise.all([`/posts/${post.id}`, post.image, picture].map((path) => send(200, `GET ${path}`)));
  }
  // Either friend can end a friendship. Both cases occur.
  const [remover, removed] = isPrivate ? [owner, formerFriend] : [formerFriend, owner];
  await remover.send(200, `DELETE /friends/remove?id=${removed.id}`);
  if (privacy.startsWith('was-')) await setPrivate(owner, !isPrivate);
  return content;
}

/** Returns the visibility fixture, which is created on first use. */
export const visibilityFixture = (users: TestUsers): Promise<VisibilityFixture> =>
  users.shared('visibility fixture', async () => {
    // A service may store a pair of users in the order of their ids, so only some owners have lower ids than the viewers.
    const older = { private: await users.register(), public: await users.register() };
    const registered = await Promise.all(OTHER_USERS.map(async (name) => [name, await users.register()] as const));
    const viewers = Object.fromEntries(registered) as VisibilityFixture['viewers'];
    const owners = { ...older, 'was-private': await users.register(), 'was-public': await users.register() };
    await makeFriends(viewers.friendOfFriend, viewers.friend);
    // A user's own privacy must not affect what they see.
    await setPrivate(viewers.requested, true);
    const owned = await Promise.all(
      PRIVACIES.map(async (privacy) => [privacy, await createOwned(owners[privacy], viewers, privacy)] as const),
    );
    return { viewers, owned: Object.fromEntries(owned) as VisibilityFixture['owned'] };
  });

/** Returns the private account of the visibility fixture and the viewers. Rules must not change them. */
export const privateProfile = async (users: TestUsers) => {
  const { owned, viewers } = await visibilityFixture(users);
  return { ...owned.private, ...viewers };
};

/** Returns a public account with a picture and a post with an image, and a visitor. Rules must not change the account. */
export const publicProfile = (users: TestUsers) =>
  users.shared('public profile', async () => {
    const content = await addContent(await users.sharedUser('cleo'));
    return { ...content, visitor: await users.sharedUser('ada') };
  });

/** Returns the ids of a list, in order. */
export const idsOf = <Id = number>(entries: readonly { id: Id }[]): Id[] => entries.map(({ id }) => id);

/** The fields of a profile, as `fieldsOf` returns them, for users who may see all of it. */
export const FULL_PROFILE_FIELDS = 'id name private profile_link username';
/** The fields of a post in a list, as `fieldsOf` returns them. */
export const POST_FIELDS = 'author_id author_username created_at id image like_count liked_by_me text title';

/** A valid password that no user has. */
export const WRONG_PASSWORD = 'Wrong-Harbour_58';

export const OTHER_ORIGIN = 'https://elsewhere.example';

/** The headers that a browser adds to a cross-site request. */
export const CROSS_SITE = { Origin: OTHER_ORIGIN, 'Sec-Fetch-Site': 'cross-site' };

export const CHUNKED = { 'Transfer-Encoding': 'chunked' };

export const contentType = (value: string) => ({ 'Content-Type': value });

/** Returns request content with a body of this media type. */
export const bodyOfType = <Body extends string | Uint8Array>(type: string, body: Body) => ({
  body,
  headers: contentType(type),
});

/** Returns request content with the session cookie, as a browser sends it. */
export const withCookie = (token: string, headers: Record<string, string> = {}): RequestContent => ({
  headers: { Cookie: `fc_session_token=${token}`, ...headers },
});

/** A part of a multipart form. */
export interface RawPart {
  name: string;
  content: string | Uint8Array;
  fileName?: string;
  type?: string;
}

/** Encodes a multipart form without changing its bytes. `FormData` would convert line breaks to CRLF. */
export function rawForm(...parts: RawPart[]) {
  const chunks = parts.flatMap(({ name, content, fileName, type }) => [
    Buffer.from(
      `--form\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n` +
        `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    typeof content === 'string' ? Buffer.from(content) : content,
    Buffer.from('\r\n'),
  ]);
  return bodyOfType('multipart/form-data; boundary=form', Buffer.concat([...chunks, Buffer.from('--form--\r\n')]));
}

/** Encodes text fields as a multipart form without changing their bytes. */
export const textForm = (fields: Record<string, string>) =>
  rawForm(...Object.entries(fields).map(([name, content]) => ({ name, content })));

/** The largest well-formed id. No user and no post has it. */
export const UNUSED_ID = 9007199254740991;
