import type { CheckedResponse, RequestOptions } from './exchange.js';
import { samples } from './images.js';
import type { Requester, TestUsers, User } from './users.js';

export interface Post {
  id: number;
  title: string;
  text: string;
  image: string | null;
  author_id: number;
  author_username: string | null;
  created_at: string;
  like_count: number;
  liked_by_me: boolean;
}

export const png = () => new File([samples.png], 'a picture.png', { type: 'image/png' });

/** Publishes a post, and answers it. */
export async function publish(author: User, form: Record<string, string | File> = {}): Promise<Post> {
  return (await author.send(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text', ...form } })).body;
}

/** Reads the feed, in pages of this size, until the post's place is reached, whatever is published meanwhile. */
export async function feedHas(
  { send }: Requester,
  { id }: Pick<Post, 'id'>,
  limit: number,
): Promise<{ found: boolean; answer: CheckedResponse }> {
  for (let offset = 0; ; offset += limit - 5) {
    const answer = await send(200, `GET /posts?limit=${limit}&offset=${offset}`);
    const posts = answer.body as Post[];
    const found = posts.some((post) => post.id === id);
    if (found || posts.length < limit || posts.every((post) => post.id < id)) return { found, answer };
  }
}

export const befriend = async (one: User, other: User) => {
  await one.send(200, `POST /friends/request?to=${other.id}`);
  await other.send(200, `POST /friends/accept?from=${one.id}`);
};

/** Ends whatever is between two people. */
export async function part(one: User, other: User): Promise<void> {
  await one.send([200, 404], `DELETE /friends/remove?id=${other.id}`);
  await one.send([200, 404], `POST /friends/cancel?to=${other.id}`);
  await one.send([200, 404], `POST /friends/decline?from=${other.id}`);
}

/** How an account's `private` flag is, and whether it was the other way before. */
export const PRIVACIES = ['public', 'private', 'was-public', 'was-private'] as const;
export type Privacy = (typeof PRIVACIES)[number];

/** How a user relates to the owners. */
export const VIEWERS = [
  'owner',
  'friend',
  'friendOfFriend',
  'stranger',
  'requester',
  'requested',
  'formerFriend',
  'loggedOut',
] as const;
export type Viewer = (typeof VIEWERS)[number];

/** An account with a picture and a post with an image. */
export interface Owned {
  owner: User;
  post: Post & { image: string };
  picture: string;
}

/** Four owners, one for each privacy, and users who relate to all of them in the same way. Rules leave it as it is. */
export interface Audience {
  owned: Record<Privacy, Owned>;
  viewers: Record<Exclude<Viewer, 'owner' | 'loggedOut'>, User>;
}

const setPrivate = (owner: User, value: boolean) =>
  owner.send(200, 'PUT /profiles/me', { form: { private: String(value) } });

/** Publishes what an owner has, and lets users relate to the owner. Both are seen while they can be seen. */
async function createOwned(owner: User, viewers: Audience['viewers'], privacy: Privacy): Promise<Owned> {
  const isPrivate = privacy === 'private' || privacy === 'was-private';
  const form = { private: String(isPrivate), image: png() };
  const picture = (await owner.send(200, 'PUT /profiles/me', { form })).body.profile_link;
  const post = (await publish(owner, { image: png() })) as Owned['post'];
  const { friend, requester, requested, formerFriend, stranger } = viewers;
  await befriend(friend, owner);
  await befriend(formerFriend, owner);
  await requester.send(200, `POST /friends/request?to=${owner.id}`);
  await owner.send(200, `POST /friends/request?to=${requested.id}`);
  const readers = isPrivate ? [friend, formerFriend] : [friend, formerFriend, stranger];
  for (const { send } of readers) {
    await Promise.all([`/posts/${post.id}`, post.image, picture].map((path) => send(200, `GET ${path}`)));
  }
  // Either of the two can end a friendship.
  const [who, whom] = isPrivate ? [owner, formerFriend] : [formerFriend, owner];
  await who.send(200, `DELETE /friends/remove?id=${whom.id}`);
  if (privacy.startsWith('was-')) await setPrivate(owner, !isPrivate);
  return { owner, post, picture };
}

export const audience = (cast: TestUsers): Promise<Audience> =>
  cast.once('audience', async () => {
    // A service may store a pair of users by the order of their ids: some owners are older than the viewers, some younger.
    const older = { private: await cast.register(), public: await cast.register() };
    const people = await Promise.all(Array.from({ length: 6 }, () => cast.register()));
    const owners = { ...older, 'was-private': await cast.register(), 'was-public': await cast.register() };
    const [friend, friendOfFriend, stranger, requester, requested, formerFriend] = people as [
      User,
      User,
      User,
      User,
      User,
      User,
    ];
    const viewers = { friend, friendOfFriend, stranger, requester, requested, formerFriend };
    await befriend(friendOfFriend, friend);
    // A user's own privacy hides nothing of others.
    await setPrivate(requested, true);
    const owned = await Promise.all(
      PRIVACIES.map(async (privacy) => [privacy, await createOwned(owners[privacy], viewers, privacy)] as const),
    );
    return { viewers, owned: Object.fromEntries(owned) as Audience['owned'] };
  });

/** The private account of the audience, with those who may come by. */
export interface PrivateProfile extends Owned {
  friend: User;
  requester: User;
  requested: User;
  stranger: User;
  exFriend: User;
}

export const privateProfile = async (cast: TestUsers): Promise<PrivateProfile> => {
  const { owned, viewers } = await audience(cast);
  return { ...owned.private, ...viewers, exFriend: viewers.formerFriend };
};

/** A public person with a picture and a post with an image. Rules look at it, and leave it as it is. */
export const publicProfile = (cast: TestUsers) =>
  cast.once('open house', async () => {
    const owner = await cast.sharedUser('cleo');
    const { body } = await owner.send(200, 'PUT /profiles/me', { form: { image: png() } });
    const post = (await publish(owner, { image: png() })) as Owned['post'];
    return { owner, visitor: await cast.sharedUser('ada'), post, picture: body.profile_link as string };
  });

/** How a person's browser sends a request: with the cookie alone. */
export const byCookie = (token: string, headers: Record<string, string> = {}): RequestOptions => ({
  headers: { Cookie: `fc_session_token=${token}`, ...headers },
});

/** A part of a form: its name, its content, and more of its header. */
export interface RawPart {
  name: string;
  content: string | Uint8Array;
  fileName?: string;
  type?: string;
}

/** A form byte for byte. `FormData` would turn every line break into CRLF. */
export function rawForm(...parts: RawPart[]): RequestOptions {
  const chunks = parts.flatMap(({ name, content, fileName, type }) => [
    Buffer.from(
      `--kit\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n` +
        `${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    typeof content === 'string' ? Buffer.from(content) : content,
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from('--kit--\r\n')]),
    headers: { 'Content-Type': 'multipart/form-data; boundary=kit' },
  };
}

export const textForm = (fields: Record<string, string>): RequestOptions =>
  rawForm(...Object.entries(fields).map(([name, content]) => ({ name, content })));

/** An id that no user and no post has. */
export const NO_ID = 9007199254740991;
