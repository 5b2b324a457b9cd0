import { isIP } from 'node:net';
import rateLimit, { normalizeIP, type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { KEY_PREFIX, type RedisConnection } from '../../db/redis.js';
import type { Operation } from '../../generated/routes.js';
import type { Config } from '../config/index.js';

/** `cross-site` counts requests from pages of untrusted origins, so that they cannot use up their visitors' limits. */
export type Bucket = Operation['rateLimit'] | 'cross-site';

/** The state of an address's counter after a request has been counted. */
export type RateLimitStatus = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

/** Functions that count a request for its address, by bucket. */
export type Counters = Record<Bucket, (request: FastifyRequest) => Promise<RateLimitStatus>>;

/** Per bucket. So many that a client cannot evict its own counter by sending from a few other addresses. */
const MAX_ADDRESSES_IN_MEMORY = 100_000;

/** Creates counters in the memory of this process. */
export function createMemoryCounters(server: FastifyInstance, limits: Config['rateLimit']): Promise<Counters> {
  return createCounters(server, limits, () => ({ cache: MAX_ADDRESSES_IN_MEMORY }));
}

/**
 * Creates counters in Redis, shared by all processes.
 *
 * @returns counters that throw StoreUnavailableError if Redis is unavailable
 */
export async function createRedisCounters(
  server: FastifyInstance,
  limits: Config['rateLimit'],
  redis: RedisConnection,
): Promise<Counters> {
  const prefix = (bucket: Bucket) => `${KEY_PREFIX}limits:${bucket}:`;
  const counters = await createCounters(server, limits, (bucket) => ({
    redis: redis.client,
    nameSpace: prefix(bucket),
  }));
  const { windowSeconds } = limits;

  const counter = (bucket: Bucket) => (request: FastifyRequest) =>
    redis.run('count', async (client) => {
      const status = await counters[bucket](request);
      if (status.isAllowed || status.ttl >= 0) return status;
      // A counter without an expiry would block its address permanently.
      await client.expire(prefix(bucket) + status.key, windowSeconds);
      return { ...status, ttlInSeconds: windowSeconds };
    });
  return { general: counter('general'), strict: counter('strict'), 'cross-site': counter('cross-site') };
}

/** Returns the address to count. Fastify's type omits that `ip` is undefined once the client has reset its connection. */
const keyGenerator = ({ ip }: { ip: string | undefined }) => normalizeIP(withoutPort(ip ?? ''));

/** Removes the port that some proxies include. With it, each connection would have its own counter. */
function withoutPort(address: string): string {
  if (isIP(address)) return address;
  return /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address.replace(/:\d+$/, '');
}

/** Creates one counter per bucket, each in its own Fastify scope: the plugin has one store per scope. */
async function createCounters(
  server: FastifyInstance,
  limits: Config['rateLimit'],
  storeOptions: (bucket: Bucket) => RateLimitPluginOptions,
): Promise<Counters> {
  const counter = async (bucket: Bucket) => {
    let count: Counters[Bucket] | undefined;
    await server.register(async (scope) => {
      await scope.register(rateLimit, {
        global: false,
        max: limits[bucket === 'cross-site' ? 'general' : bucket],
        timeWindow: limits.windowSeconds * 1000,
        keyGenerator,
        ...storeOptions(bucket),
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
