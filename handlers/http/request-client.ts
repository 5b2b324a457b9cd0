import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from '../operation.js';
import { abortOnClose } from './abort-on-close.js';

/** The client that sent a request. Its properties are computed on demand, because most handlers need none of them. */
export class RequestClient implements Client {
  #signal: AbortSignal | undefined;

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

  get signal(): AbortSignal {
    this.#signal ??= abortOnClose(this.reply);
    return this.#signal;
  }
}
