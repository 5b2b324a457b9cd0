import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { routes } from '../../generated/routes.js';
import * as generated from '../../generated/serializers.js';
import type { OperationId } from '../../generated/types.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import type { Operation } from '../operation.js';
import { authenticate } from './authenticate.js';
import { refuseCrossSite } from './cross-site.js';
import { execute } from './execute.js';
import { acquireForStream, type ResponseBudget, withinBudget } from './response-budget.js';

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
/** The serializers of the items of lists. */
const itemSerializers: Readonly<Partial<Record<OperationId, Serialize>>> = generated.itemSerializers;

interface ResponseBudgets {
  budget: ResponseBudget;
  imageBudget: ResponseBudget;
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
          if (operation.requiresAuthentication)
            request.user = await authenticate(request, context, request.early?.verifiedToken);
          refuseCrossSite(request, trustedOrigins);
        },
        handler: (request: FastifyRequest, reply: FastifyReply) => respond(operation, request, reply, context, budgets),
      };
    },
  });
}

/** Runs an operation. Returns the payload to send: serialized JSON, a stream, or the reply if there is no body. */
async function respond(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
  { budget, imageBudget }: ResponseBudgets,
): Promise<unknown> {
  const pending = request.early?.response ?? execute(operation, request, reply, context);
  // Cleared, because `request` would otherwise keep the response in memory while its JSON waits to be sent.
  request.early = undefined;
  const response = await pending;
  if (response.body instanceof Readable) await acquireForStream(imageBudget, response.body, request, reply);
  reply.code(response.status).headers(response.headers ?? {});
  const serialize = serializers[operation.id][response.status];
  if (!serialize) return response.body ?? reply.send();
  reply.type('application/json; charset=utf-8');
  const { body } = response;
  const serializeItem = itemSerializers[operation.id];
  const json = serializeItem && Array.isArray(body) ? serializeList(body, serializeItem) : serialize(body);
  // Returned without await, so that `response` can be garbage collected while the JSON waits to be sent.
  // A buffer is sent faster than a string.
  return withinBudget(budget, Buffer.from(json), request, reply);
}

/** The property of an item that caches its JSON. */
const JSON_CACHE = Symbol('json');

type Item = object & { [JSON_CACHE]?: string };

/**
 * Returns the JSON of a list. The JSON of an item is kept for as long as the item itself. This makes the feed about a quarter
 * faster when many users read it at the same time, because their lists share items: see `postView`.
 */
export function serializeList(items: readonly Item[], serializeItem: Serialize): string {
  let json = '[';
  for (const item of items) {
    item[JSON_CACHE] ??= serializeItem(item);
    json += json === '[' ? item[JSON_CACHE] : `,${item[JSON_CACHE]}`;
  }
  return `${json}]`;
}
