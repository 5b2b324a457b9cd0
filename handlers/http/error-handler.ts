import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { OverloadedError } from '../../db/support/lane.js';
import { bodyTooLarge, HttpError, overloaded, storeUnavailable } from './errors.js';

/** Turns every thrown error into a response. Logs the cause of a 5xx, unless it was thrown as an HttpError. */
export function respondToError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const response = httpErrorOf(error);
  if (response !== error && response.status >= 500) {
    request.log.error({ err: error }, response.status === 503 ? 'service unavailable' : 'internal server error');
  }
  // It may belong to a payload that could not be sent.
  reply.removeHeader('Content-Length');
  const { status, headers, code, message, problems } = response;
  return reply
    .code(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ code, message, ...(problems && { errors: problems }) }));
}

function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailableError) return storeUnavailable();
  if (error instanceof OverloadedError) return overloaded();
  const { statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode === 413) return bodyTooLarge();
  if (statusCode >= 400 && statusCode < 500) return new HttpError('invalid_request', 'The request is not valid.');
  return new HttpError('internal_error', 'Internal server error.');
}
