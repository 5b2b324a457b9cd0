import { isIP } from 'node:net';
import rateLimit, { normalizeIP, type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PREFIX, type RedisConnection } from '../../db/redis.js';
import type { Operation } from '../../generated/routes.js';
import type { Config } from '../config/index.js';

/** `cross-site` counts what pages of other sites have browsers send, so that no page can lock its visitors out. */
export type Bucket = Operation['rateLimit'] | 'cross-site';

/** Where a user stands once a request has been counted. */
export type Count = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

/** Counts a request for its address. */
export type Counters = Record<Bucket, (request: FastifyRequest) => Promise<Count>>;

/** How many addresses a bucket remembers in memory, so that nobody can push his own counter out with a few others. */
const MAX_ADDRESSES_IN_MEMORY = 100_000;

export function countersInMemory(server: FastifyInstance, limits: Config['rateLimit']): Promise<Counters> {
  return createCounters(server, limits, () => ({ cache: MAX_ADDRESSES_IN_MEMORY }));
}

/** @returns counters that throw StoreUnavailable */
export async function countersInRedis(
  server: FastifyInstance,
  limits: Config['rateLimit'],
  redis: RedisConnection,
): Promise<Counters> {
  const prefix = (bucket: Bucket) => `${PREFIX}limits:${bucket}:`;
  const counters = await createCounters(server, limits, (bucket) => ({
    redis: redis.client,
    nameSpace: prefix(bucket),
  }));
  const window = limits.windowSeconds;

  const counter = (bucket: Bucket) => (request: FastifyRequest) =>
    redis.run('count', async (client) => {
      const count = await counters[bucket](request);
      if (count.isAllowed || count.ttl >= 0) return count;
      // Whoever has written a counter that never expires would have locked its address out for ever.
      await client.expire(prefix(bucket) + count.key, window);
      return { ...count, ttlInSeconds: window };
    });
  return { general: counter('general'), strict: counter('strict'), 'cross-site': counter('cross-site') };
}

/** A client that has reset its connection has no address any more, whatever the type says. */
const keyGenerator = ({ ip }: { ip: string | undefined }) => normalizeIP(withoutPort(ip ?? ''));

/** Some proxies name the port too: else every connection would be an address of its own. */
function withoutPort(address: string): string {
  if (isIP(address)) return address;
  return /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address.replace(/:\d+$/, '');
}

/** The plugin keeps one store in each scope, so every counter gets a scope of its own. */
async function createCounters(
  server: FastifyInstance,
  limits: Config['rateLimit'],
  storeOf: (bucket: Bucket) => RateLimitPluginOptions,
): Promise<Counters> {
  const counter = async (bucket: Bucket) => {
    let count: Counters[Bucket] | undefined;
    await server.register(async (scope) => {
      await scope.register(rateLimit, {
        global: false,
        max: limits[bucket === 'cross-site' ? 'general' : bucket],
        timeWindow: limits.windowSeconds * 1000,
        keyGenerator,
        ...storeOf(bucket),
      });
      count = scope.createRateLimit();
    });
    return count as Counters[Bucket];
  };
  return {
    general: await counter('general'),
    strict: await counter('strict'),
    'cross-site': await counter('cross-site'),
  };
}
