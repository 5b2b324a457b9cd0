import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RedisConnection } from '../../db/redis.js';
import type { Config } from './config.js';
import { type Bucket, type Count, countersInMemory, countersInRedis } from './counters.js';
import { tooManyRequests } from './errors.js';

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
    if (standing.isExceeded) throw tooManyRequests(standing.ttlInSeconds);
  };
}
