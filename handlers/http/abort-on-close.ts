import type { FastifyReply } from 'fastify';
import { ClientDisconnectedError } from '../../db/support/errors.js';

/**
 * Returns a signal that aborts with ClientDisconnectedError if the connection closes before the response is complete. Replaces
 * Fastify's `request.signal`, which aborts as soon as the request body has been read.
 */
export function abortOnClose({ raw: response }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new ClientDisconnectedError());
  if (response.destroyed) abort();
  response.once('close', () => {
    if (!response.writableFinished) abort();
  });
  return controller.signal;
}
