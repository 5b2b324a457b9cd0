import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../operation.js';

/** The client that sent a request. Its properties are computed on demand, because most handlers need none of them. */
export class RequestClient implements Client {
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
