import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { type Operation, operations } from '../../generated/routes.js';
import { serializers } from '../../generated/serializers.js';
import type { OperationId } from '../../generated/types.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { handlers } from '../index.js';
import { authenticate } from './authenticate.js';
import { RequestClient } from './client.js';
import { refuseCrossSite } from './cross-site.js';
import { readInput } from './input.js';
import { LARGE_BYTES, type ResponseBudget, sendLarge } from './response-budget.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that a route is bound to; none on what lies beside the contract. */
    operation?: Operation;
  }
  interface FastifyRequest {
    user: AuthenticatedUser | undefined;
  }
}

/** What the types of `Handlers` hold every handler to, seen from where all are called alike. */
type AnyHandler = (
  request: object,
  context: AppContext,
) => Promise<{ status: number; headers?: object; body?: unknown }>;

/** Binds every operation of the contract to its handler. */
export async function registerOperations(
  server: FastifyInstance,
  document: object,
  context: AppContext,
  trustedOrigins: ReadonlySet<string>,
  budget: ResponseBudget,
): Promise<void> {
  server.decorateRequest('user', undefined);

  await server.register(openapiGlue, {
    specification: document,
    operationResolver: (id) => {
      const operation = operations[id as OperationId];
      return {
        method: operation.method,
        url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
        config: { operation },
        // Fastify would validate before it knows who asks, and stop at the first thing wrong: it gets no schema.
        schema: {},
        onRequest: async (request: FastifyRequest) => {
          if (operation.secured) request.user = await authenticate(request, context);
          refuseCrossSite(request, trustedOrigins);
        },
        handler: (request: FastifyRequest, reply: FastifyReply) => run(operation, request, reply, context, budget),
      };
    },
  });
}

/** Answers the payload to send: JSON as the contract's serializer spells it, an image's bytes, or the reply when it has none. */
async function run(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
  budget: ResponseBudget,
): Promise<unknown> {
  const { user, path, query, headerParameters, body, discard } = await readInput(request, operation, context);
  const handle = handlers[operation.id] as AnyHandler;
  const { headers } = request;
  const input = { user, path, query, headerParameters, body, headers, client: new RequestClient(request, reply) };
  const answer = await handle(input, context).finally(discard);
  reply.code(answer.status).headers(answer.headers ?? {});
  const serialize = serializers[operation.id][answer.status];
  if (!serialize) return answer.body ?? reply.send();
  reply.type('application/json; charset=utf-8');
  // What the contract does not name does not get out.
  const json = serialize(answer.body);
  if (json.length <= LARGE_BYTES || request.method === 'HEAD') return json;
  // This function ends here, so that what it has read is garbage while the response waits.
  return sendLarge(budget, Buffer.from(json), request, reply);
}
