import rateLimit, { type FastifyRateLimitStore, type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RedisConnection } from '../../db/redis/index.js';
import { createWindowCounters, type WindowCounters } from '../../db/redis/window-counters.js';
import { addressKey } from '../addresses.js';
import type { Config } from '../config/index.js';
import { rateLimitExceeded } from '../errors.js';
import type { Operation } from '../operation.js';
import { logSecurityEvent } from '../security/events.js';

/*
 * Rate limiting with fixed-window counters. Each address has one counter per bucket, and all operations of a bucket share
 * it. The counters are in Redis, where all processes share them. Without Redis, or while it is unavailable, each process
 * counts in memory.
 *
 * Refusals are kept cheap. The connection closes after the 429, and only the first refusal in a window is logged.
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request was refused because it exceeded a rate limit. The limit for failed passwords does not set it. */
    rateLimited: boolean;
  }
}

/**
 * A rate limit that several operations share. `cross-site` counts requests from pages of untrusted origins, so that such a page
 * cannot use up the limits of its visitors.
 */
type Bucket = Operation['rateLimit'] | 'cross-site';

/** Counts a request and sets the rate limit headers. @throws HttpError 429 if the request exceeds the limit */
type CountRequest = (request: FastifyRequest, reply: FastifyReply, bucket: Bucket) => Promise<void>;

/** The maximum number of counters in memory per bucket. A client with a few addresses cannot evict its own counter. */
const MAX_ADDRESSES_IN_MEMORY = 100_000;

export async function createRateLimiter(
  server: FastifyInstance,
  { rateLimit: { general, strict, windowSeconds } }: Config,
  redis: RedisConnection | undefined,
): Promise<CountRequest> {
  server.decorateRequest('rateLimited', false);
  const shared = redis && createWindowCounters(redis);
  const createBucket = async (bucket: Bucket, max: number) => ({
    counter: await createCounter(server, bucket, { max, windowSeconds }, shared),
    policy: `"${bucket}";q=${max};w=${windowSeconds}`,
  });
  const buckets = {
    general: await createBucket('general', general),
    strict: await createBucket('strict', strict),
    'cross-site': await createBucket('cross-site', general),
  };

  return async (request, reply, bucket) => {
    const { counter, policy } = buckets[bucket];
    const status = await counter(request);
    // Never true, because the plugin's allow list is empty. The check narrows the type.
    if (status.isAllowed) return;
    reply.headers({
      // The headers of draft-ietf-httpapi-ratelimit-headers-10, and the older X- headers, which more clients support.
      'RateLimit-Policy': policy,
      RateLimit: `"${bucket}";r=${status.remaining};t=${status.ttlInSeconds}`,
      'X-RateLimit-Limit': status.max,
      'X-RateLimit-Remaining': status.remaining,
      'X-RateLimit-Reset': status.ttlInSeconds,
    });
    if (!status.isExceeded) return;
    request.rateLimited = true;
    if (!status.isBanned) logSecurityEvent(request.log, 'throttled', { address: request.ip, reason: 'rate_limit' });
    throw rateLimitExceeded(status.ttlInSeconds);
  };
}

const keyOf = ({ ip }: FastifyRequest) => addressKey(ip);

/** Counts a request. Returns the state of the counter of its address. */
type Counter = ReturnType<FastifyInstance['createRateLimit']>;

/** Creates the function that counts the requests of a bucket, in Redis if it is configured and available, or in memory. */
async function createCounter(
  server: FastifyInstance,
  bucket: Bucket,
  { max, windowSeconds }: { max: number; windowSeconds: number },
  shared: WindowCounters | undefined,
): Promise<Counter> {
  // The plugin calls an address banned from its second refusal in a window on.
  const limit = { max, timeWindow: windowSeconds * 1000, ban: 1 };
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
    // Required by the plugin, but never called, because no route has rate limit options of its own.
    child() {
      return this;
    }
  }
  const countInRedis = await registerCounter(server, { ...limit, store: RedisStore });
  return (request) => countInRedis(request).catch(() => countInMemory(request));
}

type StoreCallback = Parameters<FastifyRateLimitStore['incr']>[1];

/** Creates a function that counts requests, in a Fastify scope of its own, because the plugin has one store per scope. */
async function registerCounter(server: FastifyInstance, options: RateLimitPluginOptions): Promise<Counter> {
  let counter: Counter | undefined;
  await server.register(async (scope) => {
    await scope.register(rateLimit, { ...options, global: false, keyGenerator: keyOf });
    counter = scope.createRateLimit();
  });
  return counter as Counter;
}
