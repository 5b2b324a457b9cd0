import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_STATUSES, type ErrorCode } from '../error-codes.js';
import { createLogLimit } from './log-limit.js';
import { currentResponseOf } from './pipelining.js';

/** How long a client has to read the last response before its connection is destroyed. */
const CLOSE_DELAY_MS = 2000;

/** The sockets on which `respondToClientError` has sent a response. */
const respondedSockets = new WeakSet<Socket>();

const mayLog = createLogLimit('client errors omitted');

type ClientError = readonly [code: ErrorCode, message: string];

const INVALID_HTTP: ClientError = ['invalid_http', 'The request is not valid HTTP.'];

/** The responses to errors of Node and to CONNECT, by the code of the error. All other errors result in `INVALID_HTTP`. */
const RESPONSES: Record<string, ClientError> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
  CONNECT: ['invalid_http', 'This server is not a proxy.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are too large.'],
};

/** Responds to a CONNECT request, which Node would drop. */
export function refuseConnect(this: FastifyInstance, _: IncomingMessage, stream: Duplex): void {
  // Node has removed its listeners from the socket. Without a listener, a reset by the client would end the process.
  stream.on('error', () => undefined);
  // Discards what follows. With unread bytes, the kernel would reset the connection, and the client could lose the response.
  stream.resume();
  const error = Object.assign(new Error('A client sent CONNECT'), { code: 'CONNECT' });
  // Node declares the stream as a Duplex, but here it is always a Socket.
  respondToClientError.call(this, error, stream as Socket);
}

/**
 * Returns whether the current response of a socket prevents an error response: it has started, or it belongs to an earlier
 * request, which is complete. Any other response belongs to the invalid request, and the error is sent in its place.
 */
const preventsErrorResponse = (response: ServerResponse) => response.req.complete || response.headersSent;

/**
 * Responds to input that is not valid HTTP, and to requests that are incomplete, too large or too slow. The response has
 * the same JSON format as all errors.
 *
 * If the response to an earlier request is still pending or being sent, the connection is closed without a response. The client
 * would otherwise mistake the error for that response or for a part of it.
 */
export function respondToClientError(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  // Node reports another error for each packet that follows.
  if (respondedSockets.has(socket)) return;
  const response = currentResponseOf(socket);
  if (error.code === 'ECONNRESET' || !socket.writable || (response && preventsErrorResponse(response))) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const [code, message] = RESPONSES[error.code ?? ''] ?? INVALID_HTTP;
  const status = ERROR_STATUSES[code];
  if (mayLog(this)) this.log.info({ reqId: id, status, code: error.code }, 'client error');
  respondedSockets.add(socket);
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
  // Node no longer applies timeouts to this socket, so a client could keep it open.
  destroyAfterDelay(socket);
}

/** Responds to a URL in absolute form that is not valid, as `respondToClientError` does. No hook has run. */
export function respondToInvalidUrl(_: Error, { id }: FastifyRequest, reply: FastifyReply): void {
  const [code, message] = INVALID_HTTP;
  reply.code(ERROR_STATUSES[code]).headers({ 'X-Request-Id': id, Connection: 'close' }).send({ code, message });
}

/**
 * Delays the close of a connection after the response to an incomplete request: only the sending side is closed immediately.
 * Otherwise a client that is still sending its body could lose the response, because the kernel resets a connection that is
 * closed while it has unread data.
 */
export function delayClose(socket: Socket): void {
  // Node calls `destroySoon`, an undocumented method, to close the connection after its last response. It has no public hook for
  // this moment.
  socket.destroySoon = () => {
    socket.end();
    destroyAfterDelay(socket);
  };
}

/** Destroys a connection that the client has not closed after `CLOSE_DELAY_MS`. */
function destroyAfterDelay(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
