import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxiedRequest, Send } from './client.js';

interface LoadResult {
  reads: number;
  writes: number;
  /** How often clients repeated a write. */
  retries: number;
  /** The reads that did not succeed. They are not repeated. */
  failedReads: string[];
  /** The writes that did not succeed before the last repetition. */
  failedWrites: string[];
  /** The titles of the posts that each account has tried to create, oldest first. */
  posts: string[][];
}

interface Account {
  send: Send;
  token: string;
}

const MAX_RETRIES = 20;
const RETRY_DELAY_MS = 250;

/**
 * Sends requests of several accounts. Reads are sent once. Writes, which are all idempotent, are repeated until they succeed, at
 * most `MAX_RETRIES` times. A new post is idempotent by its `Idempotency-Key`.
 */
export function startLoad(accounts: readonly Account[]) {
  const result: LoadResult = { reads: 0, writes: 0, retries: 0, failedReads: [], failedWrites: [], posts: [] };
  let stopped = false;

  async function read({ send, token }: Account, path: string): Promise<void> {
    const outcome = await outcomeOf(send('GET', path, { token }));
    result.reads += 1;
    if (outcome.problem) result.failedReads.push(`GET ${path}: ${outcome.problem}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type of the body.
  async function write({ send, token }: Account, method: string, path: string, options: ProxiedRequest): Promise<any> {
    for (let attempt = 0; ; attempt += 1) {
      const { problem, body } = await outcomeOf(send(method, path, { token, ...options }));
      if (!problem) {
        result.writes += 1;
        return body;
      }
      if (attempt === MAX_RETRIES || stopped) {
        result.failedWrites.push(`${method} ${path}: ${problem}`);
        return undefined;
      }
      result.retries += 1;
      await sleep(RETRY_DELAY_MS);
    }
  }

  async function use(account: Account, titles: string[]): Promise<void> {
    while (!stopped) {
      const title = `Post ${titles.length}`;
      titles.push(title);
      const headers = { 'Idempotency-Key': randomUUID() };
      const post = await write(account, 'POST', '/posts/create', { form: { title, text: 'A text' }, headers });
      for (const path of ['/auth/me', '/posts?limit=5', '/friends', '/profiles/me']) await read(account, path);
      if (post) await write(account, 'POST', `/posts/like?id=${post.id}`, {});
      await write(account, 'PUT', '/profiles/me', { form: { name: title } });
    }
  }

  const using = accounts.map((account, index) => {
    result.posts[index] = [];
    return use(account, result.posts[index]);
  });

  return {
    /** Waits until this number of further requests has completed. */
    async untilMore(count: number): Promise<void> {
      const end = result.reads + result.writes + count;
      while (result.reads + result.writes < end) await sleep(20);
    },
    /** Completes the requests in progress, and returns what happened. */
    async stop(): Promise<LoadResult> {
      stopped = true;
      await Promise.all(using);
      return result;
    },
  };
}

/** Returns the body of a successful response, or why there is none. */
async function outcomeOf(response: ReturnType<Send>) {
  try {
    const { status, body } = await response;
    return status < 300 ? { body } : { problem: `${status} ${JSON.stringify(body)}` };
  } catch (error) {
    return { problem: String(error) };
  }
}
