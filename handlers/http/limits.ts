import { isIP } from 'node:net';
import rateLimit, { type FastifyRateLimitStore, normalizeIP, type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../../db/redis.js';
import { createWindowCounters, type WindowCounters } from '../../db/window-counters.js';
import type { Config } from '../config/index.js';
import type { Operation } from '../operation.js';
import { logSecurityEvent } from '../security/events.js';
import { rateLimitExceeded } from './errors.js';
import { delayClose } from './pipelining.js';
import { delayThrottledAddresses } from './throttled-connections.js';

/*
 * Rate limiting with one fixed-window counter for each address and bucket, shared by all routes of the bucket. The counters are
 * in Redis, where all processes share them; without Redis, and while it is unavailable, each process counts in memory.
 *
 * Refusals are kept cheap: the connection closes after the 429, only the first refusal in a window is logged, and new
 * connections from an address are delayed if it keeps sending (see throttled-connections.ts).
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request was refused with a 429. */
    throttled: boolean;
  }
}

/** `cross-site` counts requests from pages of untrusted origins, so that they cannot use up their visitors' limits. */
type Bucket = Operation['rateLimit'] | 'cross-site';

interface RateLimiter {
  /** Counts a request and sets the rate limit headers. Throws HttpError 429 beyond the limit. */
  count(request: FastifyRequest, reply: FastifyReply, bucket: Bucket): Promise<void>;
  /** Returns whether this process has refused a request of this address and bucket in the current window. */
  hasRefused(request: FastifyRequest, bucket: Bucket): boolean;
}

/** How many refused addresses are remembered. Beyond that, one may be logged twice in a window. */
const MAX_REMEMBERED_REFUSALS = 10_000;

/** Per bucket. Large enough that a client cannot evict its own counter by sending from a few other addresses. */
const MAX_ADDRESSES_IN_MEMORY = 100_000;

/** Creates the rate limiter of a server. */
export async function createRateLimiter(
  server: FastifyInstance,
  { rateLimit: { general, strict, windowSeconds } }: Config,
  redis: RedisConnection | undefined,
): Promise<RateLimiter> {
  server.decorateRequest('throttled', false);
  /** The bucket and address of each counter that has exceeded its limit in the current window. */
  const refused = new LRUCache<string, true>({ max: MAX_REMEMBERED_REFUSALS });
  const countRefused = delayThrottledAddresses(server.server);
  const shared = redis && createWindowCounters(redis);
  const createBucket = async (bucket: Bucket, max: number) => ({
    count: await createCounter(server, bucket, { max, windowSeconds }, shared),
    policy: `"${bucket}";q=${max};w=${windowSeconds}`,
  });
  const buckets = {
    general: await createBucket('general', general),
    strict: await createBucket('strict', strict),
    'cross-site': await createBucket('cross-site', general),
  };

  async function count(request: FastifyRequest, reply: FastifyReply, bucket: Bucket): Promise<void> {
    const { count, policy } = buckets[bucket];
    const status = await count(request);
    // True only for addresses on the plugin's allow list, which is empty.
    if (status.isAllowed) return;
    reply.headers({
      // The fields of draft-ietf-httpapi-ratelimit-headers-10, and their predecessors, which more clients know.
      'RateLimit-Policy': policy,
      RateLimit: `"${bucket}";r=${status.remaining};t=${status.ttlInSeconds}`,
      'X-RateLimit-Limit': status.max,
      'X-RateLimit-Remaining': status.remaining,
      'X-RateLimit-Reset': status.ttlInSeconds,
    });
    if (!status.isExceeded) return;
    request.throttled = true;
    const key = refusalKey(request, bucket);
    if (!refused.has(key)) {
      refused.set(key, true, { ttl: Math.max(status.ttl, 1) });
      logSecurityEvent(request.log, 'throttled', { address: request.ip, reason: 'rate_limit' });
    }
    const { complete, socket } = request.raw;
    if (!complete) delayClose(socket);
    // Behind a proxy, other clients share the connection's address.
    if (bucket === 'general' && request.ip === socket.remoteAddress) countRefused(request.ip, status.ttl);
    throw rateLimitExceeded(status.ttlInSeconds);
  }

  return {
    count,
    hasRefused: (request, bucket) => refused.size > 0 && refused.has(refusalKey(request, bucket)),
  };
}

const refusalKey = (request: FastifyRequest, bucket: Bucket) => `${bucket} ${keyGenerator(request)}`;

/** Counts a request for its address. Returns the state of the address's counter. */
type Counter = ReturnType<FastifyInstance['createRateLimit']>;

/** Creates the counter of a bucket. It counts in Redis, and in memory without Redis or while it is unavailable. */
async function createCounter(
  server: FastifyInstance,
  bucket: Bucket,
  { max, windowSeconds }: { max: number; windowSeconds: number },
  shared: WindowCounters | undefined,
): Promise<Counter> {
  const limit = { max, timeWindow: windowSeconds * 1000 };
  const countInMemory = await registerCounter(server, { ...limit, cache: MAX_ADDRESSES_IN_MEMORY });
  if (!shared) return countInMemory;

  const { increment } = shared;
  class RedisStore {
    incr(address: string, done: StoreCallback, windowMs: number) {
      increment(`limits:${bucket}:${address}`, windowMs).then(
        ({ count, ttlMs }) => done(null, { current: count, ttl: ttlMs }),
        (error) => done(error),
      );
    }
    // Only called for routes with options of their own.
    child() {
      return this;
    }
  }
  const countInRedis = await registerCounter(server, { ...limit, store: RedisStore });
  return (request) => countInRedis(request).catch(() => countInMemory(request));
}

type StoreCallback = Parameters<FastifyRateLimitStore['incr']>[1];

/** Registers a counter in a Fastify scope of its own: the plugin has one store per scope. */
async function registerCounter(server: FastifyInstance, options: RateLimitPluginOptions): Promise<Counter> {
  let counter: Counter | undefined;
  await server.register(async (scope) => {
    await scope.register(rateLimit, { ...options, global: false, keyGenerator });
    counter = scope.createRateLimit();
  });
  return counter as Counter;
}

/** Returns the address to count. Fastify's type omits that `ip` is undefined once the client has reset its connection. */
const keyGenerator = ({ ip }: { ip: string | undefined }) => normalizeIP(withoutPort(ip ?? ''));

/** Removes the port that some proxies include. With it, each connection would have its own counter. */
function withoutPort(address: string): string {
  if (isIP(address)) return address;
  return /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address.replace(/:\d+$/, '');
}
