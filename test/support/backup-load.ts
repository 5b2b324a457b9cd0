import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { createSender, type RequestOptions } from './requests.js';
import { PASSWORD } from './users.js';

/** A person with a session. */
export interface Person {
  id: number;
  token: string;
  send(method: string, path: string, options?: RequestOptions): ReturnType<ReturnType<typeof createSender>>;
  /** Logs in again, and returns the token. */
  login(): Promise<string>;
}

export interface KnownPost {
  id: number;
  image: string;
}

/** Registers a person over HTTP, and logs in. */
export async function registerPerson(t: Test, url: string): Promise<Person> {
  const send = createSender(t, url);
  const username = `u${randomBytes(6).toString('hex')}`;
  const email = `${username}@people.example`;
  const json = { name: 'Test User', username, email, password: PASSWORD };
  const { id } = (await send('POST', '/auth/register', { json })).body;
  const login = async () => (await send('POST', '/auth/login', { json: { email, password: PASSWORD } })).body.token;
  const person: Person = {
    id,
    token: await login(),
    send: (method, path, options) => send(method, path, { token: person.token, ...options }),
    login,
  };
  return person;
}

/** Starts clients that post, like, befriend and delete until `stop`, also while a store is unavailable. */
export function startLoad(people: readonly Person[]) {
  const posts = new Set<KnownPost>();
  let isRunning = true;
  let created = 0;
  let newestDeletableId = Number.POSITIVE_INFINITY;
  const clients = people.map(async (person, index) => {
    const ownPosts: KnownPost[] = [];
    for (let round = 0; isRunning; round += 1) {
      const form = { title: 'T', text: 'T', image: new Blob([samples.png], { type: 'image/png' }) };
      const { status, body } = await person.send('POST', '/posts/create', { form });
      if (status === 201) {
        created += 1;
        ownPosts.push(body);
        posts.add(body);
      }
      for (const post of posts) await person.send('POST', `/posts/like?id=${post.id}`);
      const other = people[(index + 1) % people.length] ?? person;
      if (round % 3 === 0) {
        await person.send('POST', `/friends/request?to=${other.id}`);
        await other.send('POST', `/friends/accept?from=${person.id}`);
      }
      if (round % 3 === 2) await person.send('DELETE', `/friends/remove?id=${other.id}`);
      const [old] = ownPosts;
      if (old && ownPosts.length > 6 && old.id <= newestDeletableId) {
        ownPosts.shift();
        posts.delete(old);
        await person.send('DELETE', `/posts/delete?id=${old.id}`);
      }
    }
  });
  return {
    posts,
    createdCount: () => created,
    /** Stops the deletion of new posts: an image that is created and deleted while images are copied is in no copy. */
    keepNewPosts: () => {
      newestDeletableId = Math.max(...[...posts].map(({ id }) => id));
    },
    deleteAnyPosts: () => {
      newestDeletableId = Number.POSITIVE_INFINITY;
    },
    async stop() {
      isRunning = false;
      await Promise.all(clients);
    },
  };
}
