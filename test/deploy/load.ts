import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProxiedRequest, Send } from './client.js';

interface LoadResult {
  /** How many requests have succeeded. */
  requests: number;
  /** How often clients have repeated a write. */
  retries: number;
  /** The reads that did not succeed, and the writes that did not succeed before the last repetition. */
  failures: string[];
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
 * Sends requests of several accounts. Reads are sent once. Writes are repeated until they succeed, at most `MAX_RETRIES` times.
 * All of them are idempotent, a new post by its `Idempotency-Key`.
 */
export function startLoad(accounts: readonly Account[]) {
  const result: LoadResult = { requests: 0, retries: 0, failures: [], posts: accounts.map(() => []) };
  let stopped = false;

  async function request({ send, token }: Account, method: string, path: string, options: ProxiedRequest = {}) {
    const maxRetries = method === 'GET' ? 0 : MAX_RETRIES;
    for (let retries = 0; ; retries += 1) {
      const { problem, body } = await outcomeOf(send(method, path, { token, ...options }));
      if (!problem) {
        result.requests += 1;
        return body;
      }
      if (retries === maxRetries || stopped) {
        result.failures.push(`${method} ${path}: ${problem}`);
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
      const post = await request(account, 'POST', '/posts/create', { form: { title, text: 'A text' }, headers });
      for (const path of ['/auth/me', '/posts?limit=5', '/friends', '/profiles/me'])
        await request(account, 'GET', path);
      if (post) await request(account, 'POST', `/posts/like?id=${post.id}`);
      await request(account, 'PUT', '/profiles/me', { form: { name: title } });
    }
  }

  const using = accounts.map((account, index) => use(account, result.posts[index] ?? []));

  return {
    /** Waits until this number of further requests has succeeded. */
    async untilMore(count: number): Promise<void> {
      const end = result.requests + count;
      while (result.requests < end) await sleep(20);
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
