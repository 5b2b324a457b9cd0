import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { methodNotAllowed } from './errors.js';

/**
 * Records the methods of each path that is registered from now on, so that routes for the other methods can be added: 204 with
 * `Allow` for OPTIONS, 405 for the others. These routes also prevent a literal path from matching a parameter: without them,
 * `GET /posts/like` would match `GET /posts/:id`.
 *
 * @returns a function that adds these routes; call it after all other routes have been registered
 */
export function trackMethods(server: FastifyInstance): () => void {
  const paths = new Map<string, { methods: Set<string>; config: FastifyContextConfig }>();
  server.addHook('onRoute', ({ url, method, config }) => {
    const { unlimited, cors } = config ?? {};
    const entry = paths.get(url) ?? {
      methods: new Set(),
      config: { ...(unlimited && { unlimited }), ...(cors && { cors }) },
    };
    for (const name of [method].flat()) entry.methods.add(name);
    paths.set(url, entry);
  });

  return () => {
    for (const method of METHODS) {
      if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
    }
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

function unreachable(): never {
  throw new Error('Expected the onRequest hook to respond');
}
