import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ClientDisconnectedError, OverloadedError, StoreUnavailableError } from '../../db/support/errors.js';
import { clientClosed, HttpError, overloaded, storeUnavailable } from '../errors.js';

/** Headers that may describe a payload that could not be sent. */
const PAYLOAD_HEADERS = ['Content-Encoding', 'Content-Length', 'ETag', 'Link'] as const;

/** Converts any thrown error to a response. Logs an error that results in a 5xx, unless it is an HttpError or an overload. */
export function respondToError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const response = httpErrorOf(error);
  // Overload is not logged for each request: it would make a flood more expensive.
  if (response !== error && response.status >= 500 && !(error instanceof OverloadedError)) {
    request.log.error({ err: error }, response.status === 503 ? 'service unavailable' : 'internal server error');
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
