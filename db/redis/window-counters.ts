import type { Redis } from 'ioredis';
import { batched } from '../support/batch.js';
import { observedBatches } from '../support/observer.js';
import { KEY_PREFIX, type RedisConnection } from './index.js';

/*
 * Fixed-window counters in Redis, which all processes share. Concurrent increments are batched: one call of a Lua script
 * increments the counters of many clients.
 */

export interface WindowCount {
  count: number;
  /** The time until the window ends. */
  ttlMs: number;
}

export interface WindowCounters {
  /**
   * Increments a counter and returns the new count. The first increment starts the window.
   *
   * @throws StoreUnavailableError
   */
  increment(key: string, windowMs: number): Promise<WindowCount>;
  /** Returns a count, or undefined if its window has ended. @throws StoreUnavailableError */
  read(key: string): Promise<WindowCount | undefined>;
}

/** A key and the length of its window. */
type Increment = readonly [key: string, windowMs: number];

/** Each increment ensures that the counter has an expiry time: a counter without one would block its client permanently. */
const INCREMENT_SCRIPT = `
  local counts = {}
  for i, key in ipairs(KEYS) do
    local count = redis.call('incr', key)
    local ttl = redis.call('pttl', key)
    if ttl < 0 then
      ttl = tonumber(ARGV[i])
      redis.call('pexpire', key, ttl)
    end
    counts[i] = { count, ttl }
  end
  return counts`;

export function createWindowCounters(redis: RedisConnection): WindowCounters {
  const increment = batched(
    (increments: Increment[]) => redis.run('increment', (client) => incrementEach(client, increments)),
    observedBatches(redis.observer, 'increment'),
  );
  return {
    increment: (key, windowMs) => increment([key, windowMs]),
    read: (key) => redis.run('readCounter', (client) => readCounter(client, key)),
  };
}

async function incrementEach(client: Redis, increments: readonly Increment[]): Promise<WindowCount[]> {
  const keys = increments.map(([key]) => KEY_PREFIX + key);
  const windows = increments.map(([, windowMs]) => windowMs);
  const counts = await client.eval(INCREMENT_SCRIPT, keys.length, ...keys, ...windows);
  return (counts as [number, number][]).map(([count, ttlMs]) => ({ count, ttlMs }));
}

async function readCounter(client: Redis, key: string): Promise<WindowCount | undefined> {
  const name = KEY_PREFIX + key;
  const [count, ttlMs] = await Promise.all([client.get(name), client.pttl(name)]);
  return ttlMs > 0 ? { count: Number(count), ttlMs } : undefined;
}
