import rateLimit, { normalizeIP, type RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../../generated/routes.js';
import type { Config } from './config.js';
import { tooManyRequests } from './errors.js';

type Bucket = Operation['rateLimit'];

/** How many addresses are remembered, so that nobody can push his own counter out with a few others. */
const ADDRESSES = 100_000;

/** Counts a request and says so in the answer's headers. */
export type Limit = (request: FastifyRequest, reply: FastifyReply, bucket: Bucket) => Promise<void>;

/**
 * One counter for each address and bucket, shared by all routes of the bucket.
 *
 * @returns a function that throws HttpError 429
 */
export async function createLimits(server: FastifyInstance, { rateLimit: config }: Config): Promise<Limit> {
  await server.register(rateLimit, { global: false });
  const counter = (bucket: Bucket) => {
    // Every counter has a store of its own: `cache` said once, to the plugin, would reach none of them.
    const options: RateLimitOptions = {
      cache: ADDRESSES,
      max: config[bucket],
      timeWindow: config.windowSeconds * 1000,
      keyGenerator: ({ ip }) => `${bucket}:${normalizeIP(ip)}`,
    };
    return server.createRateLimit(options);
  };
  const counters = { general: counter('general'), strict: counter('strict') };

  return async (request, reply, bucket) => {
    const count = await counters[bucket](request);
    if (count.isAllowed) return;
    reply.headers({
      'X-RateLimit-Limit': count.max,
      'X-RateLimit-Remaining': count.remaining,
      'X-RateLimit-Reset': count.ttlInSeconds,
    });
    if (count.isExceeded) throw tooManyRequests(count.ttlInSeconds);
  };
}
