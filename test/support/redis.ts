import { Redis } from 'ioredis';
import type { Lifetime } from './lifetime.js';

/** Why what needs a Redis is skipped, or false. */
export const NO_REDIS = process.env.REDIS_URL ? false : 'REDIS_URL names no Redis to test with';

/** A client that ends with the test. */
export function connectRedis(t: Lifetime, url: string): Redis {
  const client = new Redis(url);
  t.teardown(() => client.disconnect());
  return client;
}

/** The Redis to test with, in a database that is empty and that no other test uses meanwhile. */
export async function redisUrlOfItsOwn(t: Lifetime): Promise<string> {
  const url = new URL(process.env.REDIS_URL ?? '');
  const shared = connectRedis(t, url.href);
  const [, databases] = (await shared.config('GET', 'databases')) as [string, string];
  const taken = await shared.incr('databases taken by tests');
  url.pathname = `/${1 + (taken % (Number(databases) - 1))}`;
  await connectRedis(t, url.href).flushdb();
  return url.href;
}
