import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../context.js';
import { isEarlyOperation, type Operation } from '../operation.js';
import { type VerifiedToken, verifyRequestToken } from './authenticate.js';
import { execute, type HandlerResponse } from './execute.js';

/*
 * Early execution: a read starts before it is known whether its request will be refused.
 *
 * The request is counted for its rate limit, its session is read, and the requested data is read, all at the same time instead
 * of one after the other. This saves round trips, and concurrent requests share larger batches.
 *
 * The results are still used in the usual order. A request that exceeds its rate limit gets a 429, and a request without a
 * valid session gets a 401. What was read for such a request is discarded. To keep refusals cheap, nothing is read early
 * for an address after its first 429, until the rate limit window ends.
 *
 * Only operations in `EARLY_OPERATIONS` (operation.ts) run early. For other operations, only the session is read early.
 */

declare module 'fastify' {
  interface FastifyRequest {
    early: EarlyStart | undefined;
  }
}

/** What is in progress while a request is counted for its rate limit. */
interface EarlyStart {
  verifiedToken: Promise<VerifiedToken>;
  /**
   * The response of an operation that runs before the session is known. Undefined for other operations, and for requests that
   * may have a body.
   */
  response: Promise<HandlerResponse> | undefined;
}

/** Adds the property `early` to the requests of a server. */
export const registerEarlyExecution = (server: FastifyInstance) => server.decorateRequest('early', undefined);

/** Starts to read the session of a request. Also starts its operation, if that may run early. */
export function startEarly(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
): void {
  if (!operation.requiresAuthentication) return;
  const verifiedToken = verifyRequestToken(request, context);
  const respond = async () => {
    const { claims } = await verifiedToken;
    return execute(operation, request, reply, context, { account: { id: claims.accountId } });
  };
  const response = isEarlyOperation(operation.id) && !mayHaveBody(request) ? respond() : undefined;
  // Prevents unhandled rejections: if the request is refused, nothing awaits these promises.
  verifiedToken.then(({ session }) => session).catch(() => undefined);
  response?.catch(() => undefined);
  request.early = { verifiedToken, response };
}

/** Returns whether a request may have a body. Early operations take none, so such a request is probably refused. */
const mayHaveBody = ({ headers }: FastifyRequest) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
