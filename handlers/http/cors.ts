import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/index.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** CORS options of one route, which override those of the service. */
    cors?: Pick<FastifyCorsOptions, 'origin' | 'credentials'>;
  }
}

/** The CORS options for routes that all origins may read. */
export const ALLOW_ANY_ORIGIN = { origin: '*', credentials: false };

/** The response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** Registers CORS for the origins in `corsOrigins`, and for routes with their own `cors` options. */
export async function registerCors(server: FastifyInstance, { corsOrigins }: Config): Promise<void> {
  server.addHook('onRoute', (route) => {
    // The plugin's OPTIONS route for all paths would also respond for paths that do not exist.
    if (route.url === '*') route.handler = (_, reply) => reply.callNotFound();
  });
  await server.register(cors, {
    origin: corsOrigins.length > 0 ? [...corsOrigins] : false,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    strictPreflight: false,
    // The OPTIONS route of the path sends the response, with `Allow` (see methods.ts).
    preflightContinue: true,
  });
}
