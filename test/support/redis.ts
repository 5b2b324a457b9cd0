import { Redis } from 'ioredis';
import type { Test } from 'tap';

/** Test options that skip a test without Redis. */
export const needsRedis = { skip: !process.env.REDIS_URL && 'needs REDIS_URL: npm run test:services' };

/** Connects a client, which is disconnected when the test ends. */
export function connectRedis(t: Test, url: string): Redis {
  const client = new Redis(url);
  t.teardown(() => client.disconnect());
  return client;
}

/**
 * Empties a Redis database and returns its URL. The databases are used in turn, so the server needs more databases than there
 * are concurrent tests. The database of `REDIS_URL`, number 0, is never returned: its counter determines the next database.
 */
export async function freshRedisUrl(t: Test): Promise<string> {
  const url = new URL(process.env.REDIS_URL ?? '');
  const counterClient = connectRedis(t, url.href);
  const [, databases] = (await counterClient.config('GET', 'databases')) as [string, string];
  const taken = await counterClient.incr('databases taken by tests');
  url.pathname = `/${1 + (taken % (Number(databases) - 1))}`;
  await connectRedis(t, url.href).flushdb();
  return url.href;
}
