import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { methodNotAllowed } from './errors.js';

/**
 * Gives every path, as registered so far or later on, an answer for all the methods that it lacks: 204 with `Allow` for
 * OPTIONS, 405 for the others. Being routes, they also keep a literal path from being taken for a parameter's value.
 *
 * @returns a function to call when all other routes are registered
 */
export function trackMethods(server: FastifyInstance): () => void {
  const taken = new Map<string, { methods: Set<string>; config: FastifyContextConfig }>();
  server.addHook('onRoute', ({ url, method, config }) => {
    const { unlimited, cors } = { ...config };
    const path = taken.get(url) ?? {
      methods: new Set(),
      config: { ...(unlimited && { unlimited }), ...(cors && { cors }) },
    };
    for (const name of [method].flat()) path.methods.add(name);
    taken.set(url, path);
  });

  return () => {
    for (const method of METHODS) {
      if (!server.supportedMethods.includes(method)) server.addHttpMethod(method);
    }
    for (const [url, { methods, config }] of [...taken]) {
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
  throw new Error('answered before');
}
