import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import {
  ClientDisconnectedError,
  OverloadedError,
  type StoreName,
  StoreUnavailableError,
} from '../../db/support/errors.js';
import { clientClosed, diskFull, HttpError, overloaded, storeUnavailable } from '../errors.js';

/** Headers that may describe a payload that could not be sent. */
const PAYLOAD_HEADERS = ['Content-Encoding', 'Content-Length', 'ETag', 'Link'] as const;

/** If no request has failed because of a store for this long, its outage is over. */
const OUTAGE_END_MS = 60_000;

/**
 * Creates the handler that converts any thrown error to a response. It logs an error that results in a 5xx, unless it is an
 * HttpError or an overload. Only the first error of an outage is logged with its stack.
 *
 * @param isDiskFull returns whether the disk of the embedded stores is too full for writes
 */
export function createErrorHandler(isDiskFull = () => false, outageEndMs = OUTAGE_END_MS) {
  /** When a request last failed because of a store. */
  const lastFailures = new Map<StoreName, number>();

  /** Returns the error without its stack if it belongs to an outage of which another error has been logged. */
  function withStackOnce(error: unknown): unknown {
    if (!(error instanceof StoreUnavailableError)) return error;
    const now = performance.now();
    const isFirst = now - (lastFailures.get(error.store) ?? Number.NEGATIVE_INFINITY) > outageEndMs;
    lastFailures.set(error.store, now);
    return isFirst ? error : Object.create(error, { stack: { value: undefined } });
  }

  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const isFull = error instanceof StoreUnavailableError && (error.isDiskFull || isDiskFull());
    const response = isFull ? diskFull() : httpErrorOf(error);
    // Overload is not logged for each request: it would make a flood more expensive.
    if (response !== error && response.status >= 500 && !(error instanceof OverloadedError)) {
      const reason = response.status === 503 ? 'service unavailable' : 'internal server error';
      request.log.error({ err: withStackOnce(error) }, isFull ? 'disk full' : reason);
    }
    for (const name of PAYLOAD_HEADERS) reply.removeHeader(name);
    // The route may have allowed caches to store the payload.
    reply.header('Cache-Control', 'no-store');
    const { status, headers, code, message, problems } = response;
    return reply
      .code(status)
      .headers(headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ code, message, ...(problems && { errors: problems }) }));
  };
}

/** Returns the HttpError that stands for an error. */
function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailableError) return storeUnavailable();
  if (error instanceof OverloadedError) return overloaded();
  if (error instanceof ClientDisconnectedError) return clientClosed();
  const { statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode >= 400 && statusCode < 500) return new HttpError('invalid_request', 'The request is not valid.');
  return new HttpError('internal_error', 'Internal server error.');
}
