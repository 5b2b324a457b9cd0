import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../../db/redis.js';
import type { Config } from '../config/index.js';
import { logSecurityEvent } from '../security/events.js';
import { type Bucket, type Count, countersInMemory, countersInRedis } from './counters.js';
import { tooManyRequests } from './errors.js';
import { delayClose } from './pipelining.js';
import { delayFlooders } from './throttled-connections.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether its rate limit has refused it. */
    throttled: boolean;
  }
}

/** How many addresses are remembered as logged. Beyond that, one may be logged twice in a window. */
const MAX_LOGGED = 10_000;

/** Counts a request and says so in the answer's headers. */
export type Limit = (request: FastifyRequest, reply: FastifyReply, bucket: Bucket) => Promise<void>;

/**
 * One counter for each address and bucket, shared by all routes of the bucket: in Redis, where all processes count
 * together; in memory without one, and while it does not answer.
 *
 * @returns a function that throws HttpError 429
 */
export async function createLimits(
  server: FastifyInstance,
  { rateLimit: limits }: Config,
  redis: RedisConnection | undefined,
): Promise<Limit> {
  server.decorateRequest('throttled', false);
  /** The addresses, by bucket, whose throttling has been logged in their present window. */
  const logged = new LRUCache<string, true>({ max: MAX_LOGGED });
  const countRefused = delayFlooders(server.server);
  const own = await countersInMemory(server, limits);
  const shared = redis && (await countersInRedis(server, limits, redis));

  const count = (request: FastifyRequest, bucket: Bucket): Promise<Count> =>
    shared ? shared[bucket](request).catch(() => own[bucket](request)) : own[bucket](request);

  return async (request, reply, bucket) => {
    const standing = await count(request, bucket);
    if (standing.isAllowed) return;
    reply.headers({
      'X-RateLimit-Limit': standing.max,
      'X-RateLimit-Remaining': standing.remaining,
      'X-RateLimit-Reset': standing.ttlInSeconds,
    });
    if (!standing.isExceeded) return;
    request.throttled = true;
    const throttling = `${bucket} ${standing.key}`;
    if (!logged.has(throttling)) {
      logged.set(throttling, true, { ttl: Math.max(standing.ttl, 1) });
      logSecurityEvent(request.log, 'throttled', { address: request.ip, reason: 'rate_limit' });
    }
    const { complete, socket } = request.raw;
    if (!complete) delayClose(socket);
    // Behind a proxy the connection is not the client's own.
    if (bucket === 'general' && request.ip === socket.remoteAddress) countRefused(request.ip, standing.ttl);
    throw tooManyRequests(standing.ttlInSeconds);
  };
}
