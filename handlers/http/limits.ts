import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../../db/redis.js';
import type { Config } from '../config/index.js';
import { logSecurityEvent } from '../security/events.js';
import { type Bucket, createMemoryCounters, createRedisCounters, type RateLimitStatus } from './counters.js';
import { tooManyRequests } from './errors.js';
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

/** How many counters are remembered as logged. Beyond that, one may be logged twice in a window. */
const MAX_LOGGED_COUNTERS = 10_000;

/** Counts a request and sets the `X-RateLimit` headers. Throws HttpError 429 beyond the limit. */
export type RateLimiter = (request: FastifyRequest, reply: FastifyReply, bucket: Bucket) => Promise<void>;

/** Creates the rate limiter of a server. */
export async function createRateLimiter(
  server: FastifyInstance,
  { rateLimit: limits }: Config,
  redis: RedisConnection | undefined,
): Promise<RateLimiter> {
  server.decorateRequest('throttled', false);
  /** The bucket and address of each counter whose first refusal in the current window has been logged. */
  const logged = new LRUCache<string, true>({ max: MAX_LOGGED_COUNTERS });
  const countRefused = delayThrottledAddresses(server.server);
  const local = await createMemoryCounters(server, limits);
  const shared = redis && (await createRedisCounters(server, limits, redis));

  const count = (request: FastifyRequest, bucket: Bucket): Promise<RateLimitStatus> =>
    shared ? shared[bucket](request).catch(() => local[bucket](request)) : local[bucket](request);

  return async (request, reply, bucket) => {
    const status = await count(request, bucket);
    // Only addresses on the plugin's allow list, which is empty.
    if (status.isAllowed) return;
    reply.headers({
      'X-RateLimit-Limit': status.max,
      'X-RateLimit-Remaining': status.remaining,
      'X-RateLimit-Reset': status.ttlInSeconds,
    });
    if (!status.isExceeded) return;
    request.throttled = true;
    const counterKey = `${bucket} ${status.key}`;
    if (!logged.has(counterKey)) {
      logged.set(counterKey, true, { ttl: Math.max(status.ttl, 1) });
      logSecurityEvent(request.log, 'throttled', { address: request.ip, reason: 'rate_limit' });
    }
    const { complete, socket } = request.raw;
    if (!complete) delayClose(socket);
    // Behind a proxy, other clients share the connection's address.
    if (bucket === 'general' && request.ip === socket.remoteAddress) countRefused(request.ip, status.ttl);
    throw tooManyRequests(status.ttlInSeconds);
  };
}
