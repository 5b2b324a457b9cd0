import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { OverloadedError } from '../../db/support/lane.js';
import { HttpError, payloadTooLarge, unavailable } from './errors.js';

/** The one place where what was thrown becomes an answer. */
export function respondToError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = httpErrorOf(error);
  if (answer !== error && answer.status >= 500) {
    request.log.error({ err: error }, answer.status === 503 ? 'unavailable' : 'fault');
  }
  reply.removeHeader('Content-Length');
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ message: answer.message, ...(answer.problems && { errors: answer.problems }) }));
}

function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailableError || error instanceof OverloadedError) return unavailable();
  const { statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode === 413) return payloadTooLarge();
  if (statusCode >= 400 && statusCode < 500) return new HttpError(statusCode, 'The request is not valid.');
  return new HttpError(500, 'The service has failed. It is not your fault.');
}
