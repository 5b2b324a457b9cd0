import pLimit from 'p-limit';
import { makeFriends, type Post, pngFile, publish } from '../../fixtures.js';
import type { TestUsers, User } from '../../users.js';

/** More posts than the largest page holds. */
export const POST_COUNT = 105;
const PRIVATE_POST_COUNT = 30;

/** Compares posts by `created_at` descending, then by `id` descending. */
export const newestFirst = (one: Post, other: Post) =>
  one.created_at === other.created_at ? other.id - one.id : one.created_at < other.created_at ? 1 : -1;

/** Publishes posts concurrently, so that some may share a `created_at`. Returns them, newest first. */
export async function publishAll(author: User, forms: Record<string, string | File>[]): Promise<Post[]> {
  const limitConcurrency = pLimit(6);
  const posts = await Promise.all(forms.map((form) => limitConcurrency(() => publish(author, form))));
  return posts.sort(newestFirst);
}

export const numberedForms = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ title: `Post ${index}`, text: `Text ${index}` }));

/** Returns the accounts and posts of the rules about lists, which are created on first use. */
export const timeline = (users: TestUsers) =>
  users.shared('timeline', async () => {
    // Registered first: a service may store a pair of users in the order of their ids.
    const privateAuthor = await users.register();
    const [author, reader, friend] = await Promise.all([users.register(), users.register(), users.register()]);
    await privateAuthor.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
    await makeFriends(friend, privateAuthor);
    await reader.send(200, `POST /friends/request?to=${privateAuthor.id}`);
    const oldestPost = await publish(friend);
    // Published last, so that they are on the first page.
    const specialForms = [
      { text: 'long '.repeat(2000) },
      { image: pngFile() },
      { title: 'é\u0301 <b> & "', text: '🐟'.repeat(10_000) },
      { text: 'liked by two' },
    ];
    const ownPosts = await publishAll(author, numberedForms(POST_COUNT - specialForms.length));
    ownPosts.push(...(await publishAll(author, specialForms)));
    ownPosts.sort(newestFirst);
    const [first, second, third] = ownPosts as [Post, Post, Post];
    for (const [post, ...likers] of [
      [first, reader],
      [second, author],
      [third, reader, author, friend],
    ] as [Post, ...User[]][]) {
      for (const { send } of likers) await send(200, `POST /posts/like?id=${post.id}`);
      post.like_count = likers.length;
      post.liked_by_me = likers.includes(author);
    }
    const privatePosts = await publishAll(privateAuthor, numberedForms(PRIVATE_POST_COUNT));
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
      /** A public account with more posts than a page holds. */
      author,
      /** All posts of the author as the author sees them, newest first. */
      ownPosts,
      /** Likes some posts of the author. Has no friends, but has sent a friend request to `privateAuthor`. */
      reader,
      likedByReader: new Set([first.id, third.id]),
      /** A private account with posts newer than those of `author`. */
      privateAuthor,
      /** Its posts, newest first. `friend` likes the newest. */
      privatePosts,
      /** A friend of `privateAuthor`. */
      friend,
      /** A public post, older than those of `author` and `privateAuthor`. */
      oldestPost,
    };
  });
