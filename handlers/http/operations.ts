import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import type { BoundedQueue } from '../../db/support/bounded-queue.js';
import { routes } from '../../generated/routes.js';
import * as generated from '../../generated/serializers.js';
import type { OperationId } from '../../generated/types.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { registrationClosed } from '../errors.js';
import { handlers } from '../index.js';
import type { Client, Operation } from '../operation.js';
import { abortOnClose } from './abort-on-close.js';
import { authenticate } from './authenticate.js';
import { refuseCrossSite } from './cross-site.js';
import { readInput } from './input.js';
import { acquireForStream, withinBudget } from './response-budget.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the route. Undefined for routes that are not operations of the contract. */
    operation?: Operation;
  }
  interface FastifyRequest {
    user: AuthenticatedUser | undefined;
  }
}

const operations: Readonly<Record<OperationId, Operation>> = routes;

/** Converts a value to JSON. Omits properties that the contract does not declare. */
type Serialize = (value: unknown) => string;

/** By operation and status. */
const serializers: Readonly<Record<OperationId, Readonly<Record<number, Serialize>>>> = generated.serializers;

/** A common supertype of all handlers. The exact type of each handler is checked by `Handlers`. */
type AnyHandler = (
  request: object,
  context: AppContext,
) => Promise<{ status: number; headers?: Record<string, string>; body?: unknown }>;

interface ResponseBudgets {
  budget: BoundedQueue;
  imageBudget: BoundedQueue;
}

export async function registerOperations(
  server: FastifyInstance,
  document: object,
  context: AppContext,
  trustedOrigins: ReadonlySet<string>,
  budgets: ResponseBudgets,
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
        // No schema, because Fastify would stop at the first problem. `readInput` validates requests instead.
        schema: {},
        onRequest: async (request: FastifyRequest) => {
          if (operation.requiresAuthentication) request.user = await authenticate(request, context);
          refuseCrossSite(request, trustedOrigins);
          if (operation.id === 'register' && context.config.registration === 'closed') throw registrationClosed();
        },
        handler: (request: FastifyRequest, reply: FastifyReply) => respond(operation, request, reply, context, budgets),
      };
    },
  });
}

/**
 * Reads and validates a request, and runs its operation. Returns the payload to send: serialized JSON, a stream, or the reply if
 * there is no body.
 */
async function respond(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
  { budget, imageBudget }: ResponseBudgets,
): Promise<unknown> {
  const { discard, ...input } = await readInput(request, operation, context);
  const handle = handlers[operation.id] as AnyHandler;
  const client: Client = {
    address: request.ip,
    log: request.log,
    https: request.protocol.toLowerCase() === 'https',
    signal: abortOnClose(reply),
  };
  const response = await handle({ ...input, headers: request.headers, client }, context).finally(discard);
  if (response.body instanceof Readable) await acquireForStream(imageBudget, response.body, request, reply);
  reply.code(response.status).headers(response.headers ?? {});
  const serialize = serializers[operation.id][response.status];
  if (!serialize) return response.body ?? reply.send();
  reply.type('application/json; charset=utf-8');
  // Returned without await, so that `response` can be garbage collected while the JSON waits to be sent.
  // A buffer is sent faster than a string.
  return withinBudget(budget, Buffer.from(serialize(response.body)), request, reply);
}
