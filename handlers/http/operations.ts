import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { routes } from '../../generated/routes.js';
import * as generated from '../../generated/serializers.js';
import type { OperationId } from '../../generated/types.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { handlers } from '../index.js';
import type { EarlyUser, Operation } from '../operation.js';
import { authenticate } from './authenticate.js';
import { RequestClient } from './client.js';
import { refuseCrossSite } from './cross-site.js';
import { readInput } from './input.js';
import { type Serialize, serializeList } from './json.js';
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
          if (operation.secured) request.user = await authenticate(request, context, request.early?.verifiedToken);
          refuseCrossSite(request, trustedOrigins);
        },
        handler: (request: FastifyRequest, reply: FastifyReply) => respond(operation, request, reply, context, budgets),
      };
    },
  });
}

/** A common supertype of the responses of all handlers. */
export interface HandlerResponse {
  status: number;
  headers?: object;
  body?: unknown;
}

/** A common supertype of all handlers. The exact type of each handler is checked by `Handlers`. */
type AnyHandler = (request: object, context: AppContext) => Promise<HandlerResponse>;

/**
 * Reads and validates a request, and runs its operation.
 *
 * @param earlyUser the user that the token names, for a request whose session is not known yet
 */
export async function execute(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
  earlyUser?: EarlyUser,
): Promise<HandlerResponse> {
  const {
    user = earlyUser,
    path,
    query,
    headerParameters,
    body,
    discard,
  } = await readInput(request, operation, context);
  const handle = handlers[operation.id] as AnyHandler;
  const { headers } = request;
  const input = { user, path, query, headerParameters, body, headers, client: new RequestClient(request, reply) };
  return handle(input, context).finally(discard);
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
  // Otherwise `request` would keep the response in memory while its JSON waits to be sent.
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
