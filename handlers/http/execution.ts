import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../context.js';
import { handlers } from '../index.js';
import { type EarlyUser, type Operation, startsEarly } from '../operation.js';
import { type Credentials, readCredentials } from './authenticate.js';
import { RequestClient } from './client.js';
import { readInput } from './input.js';

/*
 * Runs operations. The rate limit, the session and the data of a read are in different stores, and none depends on the others. So
 * all three are requested at the same time. This saves round trips, and concurrent requests share larger batches.
 *
 * The results are used in the usual order. A request over its limit gets a 429, one without a valid session a 401, and what was
 * read for it is discarded. Refusals stay cheap: after the first 429 for an address, nothing is read early for it until the
 * window ends.
 */

declare module 'fastify' {
  interface FastifyRequest {
    early: EarlyStart | undefined;
  }
}

/** What was started while the request was counted for its rate limit. */
interface EarlyStart {
  credentials: Promise<Credentials>;
  /** Defined only for operations that may run before the session is known. */
  response: Promise<AnyResponse> | undefined;
}

interface AnyResponse {
  status: number;
  headers?: object;
  body?: unknown;
}

/** The common supertype of all handlers. `Handlers` checks the exact type of each. */
type AnyHandler = (request: object, context: AppContext) => Promise<AnyResponse>;

/**
 * Reads a request and runs its operation.
 *
 * @param earlyUser the user that the token names, if the session is not known yet
 */
export async function execute(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
  earlyUser?: EarlyUser,
): Promise<AnyResponse> {
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

/** Starts to read the session of a request, and also runs its operation if that may start early. */
export function startEarly(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  context: AppContext,
): void {
  if (!operation.secured) return;
  const credentials = readCredentials(request, context);
  const respond = async () => {
    const { claims } = await credentials;
    return execute(operation, request, reply, context, { account: { id: claims.accountId } });
  };
  const response = startsEarly(operation.id) && !mayHaveBody(request) ? respond() : undefined;
  // A refused request awaits neither of them.
  credentials.then(({ session }) => session).catch(() => undefined);
  response?.catch(() => undefined);
  request.early = { credentials, response };
}

/** Returns whether a body may follow the headers. No operation that reads takes one. */
const mayHaveBody = ({ headers }: FastifyRequest) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
