import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/*
 * Limits HTTP pipelining: the requests of one connection are processed one at a time.
 *
 * When Node reads from a socket, it starts every request in the bytes that it gets: 64 KiB can contain about a thousand. For a
 * client that exceeds its rate limit, the service would compute a response to each of them before the first 429 could close
 * the connection. If requests are processed one at a time, a response that closes the connection discards the requests that
 * follow.
 *
 * Node sends responses in order: it assigns the socket to a response when the previous response has been sent. A waiting
 * request starts at that time.
 */

/** The maximum number of waiting requests of one connection. */
const MAX_WAITING = 32;

interface Pipeline {
  /** The number of waiting requests; infinite once the limit has been exceeded. */
  waiting: number;
  /** The response to the last request that will be processed. */
  last: ServerResponse;
}

/** The pipelines of connections. Contains only those on which requests have waited. */
const pipelines = new WeakMap<Socket, Pipeline>();

/** The response in progress of each connection that has one. */
const current = new WeakMap<Socket, ServerResponse>();

/** Returns the response in progress of a connection. It may not have started yet. */
export const currentResponseOf = (socket: Socket): ServerResponse | undefined => current.get(socket);

/** Wraps a request listener so that it receives the requests of one connection one at a time. */
export function limitPipelining(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = response;
    if (socket === null) waitForSocket(request, response, listener);
    // If the connection is being closed, the request is dropped.
    else if (!socket.writableEnded) start(request, response, listener);
  };
}

function start(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
  const { socket } = request;
  current.set(socket, response);
  response.once('close', () => {
    // The next request of the connection may already have started.
    if (current.get(socket) === response) current.delete(socket);
  });
  listener(request, response);
}

/** Starts a request when the socket is assigned to its response. Drops the request if too many are waiting. */
function waitForSocket(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
  const { socket } = request;
  const pipeline = pipelines.get(socket) ?? { waiting: 0, last: response };
  pipelines.set(socket, pipeline);
  if (pipeline.waiting >= MAX_WAITING) {
    // The connection closes after the last waiting request. The client can repeat the dropped requests on a new connection (RFC
    // 9112 section 9.3.2).
    pipeline.last.shouldKeepAlive = false;
    if (pipeline.waiting === MAX_WAITING) stopReading(socket);
    // Later requests are dropped too, even after waiting requests have started.
    pipeline.waiting = Number.POSITIVE_INFINITY;
    return;
  }
  pipeline.waiting += 1;
  pipeline.last = response;
  const { assignSocket } = response;
  response.assignSocket = (assigned) => {
    assignSocket.call(response, assigned);
    pipeline.waiting -= 1;
    start(request, response, listener);
  };
}

/**
 * Stops reading from a socket. `pause()` is not enough, because Node resumes the socket after each request. A 'readable'
 * listener detaches Node's parser from the socket.
 */
function stopReading(socket: Socket): void {
  socket.on('readable', () => undefined);
}
