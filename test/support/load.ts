import { setTimeout as sleep } from 'node:timers/promises';
import { picture } from './service.js';
import type { RegisteredUser } from './users.js';

export interface KnownPost {
  id: number;
  title: string;
  image: string;
}

/** Starts one client per user, which creates, likes and deletes posts and changes friendships until `stop`. */
export function startLoad(users: readonly Pick<RegisteredUser, 'id' | 'send'>[]) {
  /** Posts whose creation was acknowledged and whose deletion has not been requested. */
  const posts = new Set<KnownPost>();
  let isRunning = true;
  let createdCount = 0;
  let newestDeletableId = Number.POSITIVE_INFINITY;
  const clients = users.map(async (user, index) => {
    const ownPosts: KnownPost[] = [];
    for (let round = 0; isRunning; round += 1) {
      const form = { title: `post ${index} ${round}`, text: 'T', image: picture() };
      const { status, body } = await user.send('POST', '/posts/create', { form });
      if (status === 201) {
        createdCount += 1;
        ownPosts.push(body);
        posts.add(body);
      }
      for (const post of posts) await user.send('POST', `/posts/like?id=${post.id}`);
      const other = users[(index + 1) % users.length] ?? user;
      if (round % 3 === 0) {
        await user.send('POST', `/friends/request?to=${other.id}`);
        await other.send('POST', `/friends/accept?from=${user.id}`);
      }
      if (round % 3 === 2) await user.send('DELETE', `/friends/remove?id=${other.id}`);
      // Each client keeps its first post, so that posts from before a backup remain after it, however long it takes.
      const [, oldest] = ownPosts;
      if (oldest && ownPosts.length > 6 && oldest.id <= newestDeletableId) {
        ownPosts.splice(1, 1);
        posts.delete(oldest);
        await user.send('DELETE', `/posts/delete?id=${oldest.id}`);
      }
    }
  });
  const stopped = Promise.all(clients);
  const failed = new Promise<never>((_, reject) => void stopped.catch(reject));
  // The methods below report the error of a client. Without a listener, the rejection would end the process before that.
  failed.catch(() => undefined);
  return {
    posts,
    /** Waits until this many more posts have been created. Throws if a client has failed. */
    async untilMoreCreated(count: number) {
      for (const goal = createdCount + count; createdCount < goal; ) await Promise.race([sleep(10), failed]);
    },
    /**
     * Stops deleting posts that are created from now on. A separate copy of the images would lack the image of a post that is
     * created and deleted while the images are copied.
     */
    keepNewPosts: () => {
      newestDeletableId = Math.max(...[...posts].map(({ id }) => id));
    },
    deleteAnyPosts: () => {
      newestDeletableId = Number.POSITIVE_INFINITY;
    },
    /** Waits until all clients have completed their rounds. Throws if one has failed. */
    async stop() {
      isRunning = false;
      await stopped;
    },
  };
}
