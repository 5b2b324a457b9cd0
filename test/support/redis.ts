import { Redis } from 'ioredis';
import type { Lifetime } from './lifetime.js';

/** The reason to skip tests that need Redis, or false. */
export const skipWithoutRedis = process.env.REDIS_URL ? false : 'needs REDIS_URL';

/** Connects a client, which is disconnected when the test ends. */
export function connectRedis(t: Lifetime, url: string): Redis {
  const client = new Redis(url);
  t.teardown(() => client.disconnect());
  return client;
}

/** Returns the URL of an empty Redis database that no other test uses at the same time. */
export async function freshRedisUrl(t: Lifetime): Promise<string> {
  const url = new URL(process.env.REDIS_URL ?? '');
  const shared = connectRedis(t, url.href);
  const [, databases] = (await shared.config('GET', 'databases')) as [string, string];
  const taken = await shared.incr('databases taken by tests');
  url.pathname = `/${1 + (taken % (Number(databases) - 1))}`;
  await connectRedis(t, url.href).flushdb();
  return url.href;
}
