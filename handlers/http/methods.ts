import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { methodNotAllowed } from '../errors.js';

/**
 * Records the methods of each path that is registered after this call. The returned function adds routes for all other methods
 * of these paths: OPTIONS gets a 204 with `Allow`, and the others get a 405.
 *
 * These routes also prevent a literal path from matching a path parameter. Without them, `GET /posts/like` would match
 * `GET /posts/:id`.
 */
export function trackMethods(server: FastifyInstance): () => void {
  const paths = new Map<string, { methods: Set<string>; config: FastifyContextConfig }>();
  server.addHook('onRoute', ({ url, method, config }) => {
    const { exemptFromRateLimit, cors } = config ?? {};
    const path = paths.get(url) ?? {
      methods: new Set(),
      config: { ...(exemptFromRateLimit && { exemptFromRateLimit }), ...(cors && { cors }) },
    };
    for (const name of [method].flat()) path.methods.add(name);
    paths.set(url, path);
  });

  return () => {
    for (const method of METHODS) {
      if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
    }
    // Redefines QUERY as a method without a body. Fastify would respond with 400 to a QUERY without a Content-Type, even on an
    // unknown path.
    server.addHttpMethod('QUERY', { overrideExisting: true });
    for (const [url, { methods, config }] of [...paths]) {
      const allow = [...methods, 'OPTIONS'].join(', ');
      server.route({
        url,
        config,
        method: 'OPTIONS',
        onRequest: async (_, reply) => reply.code(204).header('Allow', allow).send(),
        handler: unreachable,
      });
      server.route({
        url,
        config,
        method: METHODS.filter((method) => method !== 'OPTIONS' && !methods.has(method)),
        exposeHeadRoute: false,
        onRequest: async () => {
          throw methodNotAllowed(allow);
        },
        handler: unreachable,
      });
    }
  };
}

/** The handler of routes whose onRequest hook sends the response. */
function unreachable(): never {
  throw new Error('Expected the onRequest hook to respond');
}
