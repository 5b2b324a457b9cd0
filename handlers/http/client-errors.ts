import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const RESPONSES: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'The head of the request is too large.'],
};

/** How long a sender has for reading the answer before the connection is cut, in milliseconds. */
const CLOSE_DELAY_MS = 2000;

/** Where Node keeps the answer that a connection is occupied with. */
interface Occupied {
  _httpMessage?: ServerResponse;
}

/** Whether the answer is an earlier request's, or has been begun. Else it is owed to the one whose body is broken. */
const isTaken = (answer: ServerResponse) => answer.req.complete || answer.headersSent;

/**
 * Answers what is not HTTP well enough to become a request, or breaks off in its body, in the shape of every other error.
 * While an earlier request's answer is due or under way nothing may be written: it would be taken for that answer, or for a
 * part of it.
 */
export function respondToClientError(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: answer } = socket as Occupied;
  if (error.code === 'ECONNRESET' || !socket.writable || (answer && isTaken(answer))) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  const [status, message] = RESPONSES[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  this.log.info({ reqId: id, status, code: error.code }, 'no request');
  const body = JSON.stringify({ message });
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
  // Node looks after it no more: a sender who does not close it would keep it open for ever.
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS);
  socket.once('close', () => clearTimeout(timer));
}
