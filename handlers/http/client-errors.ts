import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ERROR_STATUSES, type ErrorCode } from './error-codes.js';

/** By Node's error code. All other errors are a 400. */
const RESPONSES: Record<string, [code: ErrorCode, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are too large.'],
};

/** How long the client has to read the response before the connection is destroyed. */
const CLOSE_DELAY_MS = 2000;

/** A socket with Node's private reference to the response it is assigned to. */
interface SocketWithResponse {
  _httpMessage?: ServerResponse;
}

/** Returns whether a response belongs to an earlier request or has started; otherwise it belongs to the broken request. */
const isInUse = (response: ServerResponse) => response.req.complete || response.headersSent;

/**
 * Responds to input that is not valid HTTP, or to a request that is broken, too large or too slow, with JSON like every error.
 * Closes the connection without a response while the response to an earlier request is pending or in progress: the client
 * would take the error for that response or a part of it.
 */
export function respondToClientError(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: response } = socket as SocketWithResponse;
  if (error.code === 'ECONNRESET' || !socket.writable || (response && isInUse(response))) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const [code, message] = RESPONSES[error.code ?? ''] ?? ['invalid_http', 'The request is not valid HTTP.'];
  const status = ERROR_STATUSES[code];
  this.log.info({ reqId: id, status, code: error.code }, 'client error');
  const body = JSON.stringify({ code, message });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `X-Request-Id: ${id}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // Node no longer applies its timeouts to this socket: a client that does not close it would keep it open.
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS);
  socket.once('close', () => clearTimeout(timer));
}
