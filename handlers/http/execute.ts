import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext } from '../context.js';
import { handlers } from '../index.js';
import type { Client, EarlyUser, Operation } from '../operation.js';
import { readInput } from './input.js';

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

/** The client that sent a request. Its properties are computed on demand, because most handlers need none of them. */
class RequestClient implements Client {
  #controller: AbortController | undefined;

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
  ) {}

  get address(): string {
    return this.request.ip;
  }

  get log(): FastifyBaseLogger {
    return this.request.log;
  }

  get https(): boolean {
    return /^https$/i.test(this.request.protocol);
  }

  /** Replaces Fastify's `request.signal`, which aborts as soon as the request body has been read. */
  get signal(): AbortSignal {
    this.#controller ??= abortOnClose(this.reply);
    return this.#controller.signal;
  }
}

/** Returns a controller that aborts when the connection closes before the response is complete. */
function abortOnClose({ raw: response }: FastifyReply): AbortController {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller;
}
