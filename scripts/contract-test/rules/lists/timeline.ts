import { makeFriends, type Post, png, publish } from '../../fixtures.js';
import type { TestUsers, User } from '../../users.js';

/** More posts than the largest page holds. */
export const POST_COUNT = 105;
/** The number of posts of the private account. */
const PRIVATE_POST_COUNT = 30;

/** Compares posts by `created_at` descending, then by `id` descending. */
export const newestFirst = (one: Post, other: Post) =>
  one.created_at === other.created_at ? other.id - one.id : one.created_at < other.created_at ? 1 : -1;

interface Timeline {
  /** A public account with more posts than a page holds. */
  author: User;
  /** All posts of the author as the author sees them, newest first. */
  ownPosts: Post[];
  /** Likes some posts of the author. Has no friends, but has sent a friend request to `privateAuthor`. */
  reader: User;
  likedByReader: Set<number>;
  /** A private account with posts newer than those of `author`. */
  privateAuthor: User;
  /** Its posts, newest first. `friend` likes the newest. */
  privatePosts: Post[];
  /** A friend of `privateAuthor`. */
  friend: User;
}

/** Publishes posts concurrently, so that some may share a `created_at`. `special` replaces the first forms. */
async function publishMany(author: User, count: number, special: Record<string, string | File>[] = []) {
  const posts: Post[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      const form = special[index] ?? { title: `Post ${index}`, text: `Text ${index}` };
      posts.push(await publish(author, form));
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return posts.sort(newestFirst);
}

/** Returns the accounts and posts of the rules about lists, which are created on first use. */
export const timeline = (users: TestUsers): Promise<Timeline> =>
  users.shared('timeline', async () => {
    // Registered first: a service may store a pair of users in the order of their ids.
    const privateAuthor = await users.register();
    const [author, reader, friend] = (await Promise.all([users.register(), users.register(), users.register()])) as [
      User,
      User,
      User,
    ];
    await privateAuthor.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
    await makeFriends(friend, privateAuthor);
    await reader.send(200, `POST /friends/request?to=${privateAuthor.id}`);
    const ownPosts = await publishMany(author, POST_COUNT - 4);
    // Published last, so that they are on the first page.
    const special = [
      { text: 'long '.repeat(2000) },
      { image: png() },
      { title: 'é\u0301 <b> & "', text: '🐟'.repeat(10_000) },
      { text: 'liked by two' },
    ];
    ownPosts.push(...(await publishMany(author, 4, special)));
    ownPosts.sort(newestFirst);
    const [first, second, third] = ownPosts as [Post, Post, Post];
    const likes: [User, Post][] = [
      [reader, first],
      [author, second],
      [reader, third],
      [author, third],
      [friend, third],
    ];
    for (const [{ send }, { id }] of likes) await send(200, `POST /posts/like?id=${id}`);
    for (const [user, post] of likes) {
      post.like_count += 1;
      if (user === author) post.liked_by_me = true;
    }
    const privatePosts = await publishMany(privateAuthor, PRIVATE_POST_COUNT);
    const [newest] = privatePosts as [Post];
    await friend.send(200, `POST /posts/like?id=${newest.id}`);
    newest.like_count += 1;
    // An edit must not change the order.
    for (const [{ send }, posts] of [
      [author, ownPosts],
      [privateAuthor, privatePosts],
    ] as const) {
      const oldest = posts.at(-1) as Post;
      oldest.title = 'Edited';
      await send(200, `PUT /posts/edit?id=${oldest.id}`, { form: { title: oldest.title } });
    }
    return {
      author,
      ownPosts,
      reader,
      likedByReader: new Set([first.id, third.id]),
      privateAuthor,
      privatePosts,
      friend,
    };
  });
