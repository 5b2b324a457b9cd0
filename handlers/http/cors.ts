import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a route has otherwise than the service as a whole. */
    cors?: Pick<FastifyCorsOptions, 'origin' | 'credentials'>;
  }
}

/** For a route that every page of every site may read. */
export const OPEN_TO_ALL = { origin: '*', credentials: false };

const READABLE = [
  'ETag',
  'Link',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** Cross-origin access: closed, unless the operator names origins. */
export async function registerCors(server: FastifyInstance, { corsOrigins }: Config): Promise<void> {
  server.addHook('onRoute', (route) => {
    // The plugin's catch-all for OPTIONS: an address that is none stays none.
    if (route.url === '*') route.handler = (_, reply) => reply.callNotFound();
  });
  await server.register(cors, {
    origin: corsOrigins.length > 0 ? [...corsOrigins] : false,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'],
    exposedHeaders: READABLE,
    maxAge: 600,
    strictPreflight: false,
    // The route behind answers, so that `Allow` is on every OPTIONS.
    preflightContinue: true,
  });
}
