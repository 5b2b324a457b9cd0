import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/*
 * Limits HTTP pipelining. Node parses all requests of one socket read, about a thousand in 64 KiB, and starts them together: a
 * client over its rate limit would cost as many responses before the first one could close the connection. Here a connection's
 * requests start one at a time, and a response that closes the connection drops the requests behind it.
 *
 * Node already sends responses in order: it assigns the socket to a response when the previous one has been sent. A waiting
 * request starts at that moment.
 */

/** How many pipelined requests of one connection may wait. */
const MAX_WAITING = 32;

/** How long a connection stays half open so that a client that is still sending can read the response. */
const CLOSE_DELAY_MS = 2000;

interface Pipeline {
  waiting: number;
  last: ServerResponse;
}

/** Contains only connections on which requests have waited. */
const pipelines = new WeakMap<Socket, Pipeline>();

/** Wraps a request listener so that it receives the requests of one connection one at a time. */
export function oneAtATime(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = response;
    if (socket === null) waitForSocket(request, response, listener);
    // A connection that is being closed accepts no more requests.
    else if (!socket.writableEnded) listener(request, response);
  };
}

function waitForSocket(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
  const { socket } = request;
  const pipeline = pipelines.get(socket) ?? { waiting: 0, last: response };
  pipelines.set(socket, pipeline);
  if (pipeline.waiting >= MAX_WAITING) {
    // The client has to repeat the other requests on a new connection (RFC 9112 section 9.3.2).
    pipeline.last.shouldKeepAlive = false;
    if (pipeline.waiting === MAX_WAITING) stopReading(socket);
    // Later requests are dropped too, even when the waiting ones have started.
    pipeline.waiting = Number.POSITIVE_INFINITY;
    return;
  }
  pipeline.waiting += 1;
  pipeline.last = response;
  const { assignSocket } = response;
  response.assignSocket = (assigned) => {
    assignSocket.call(response, assigned);
    pipeline.waiting -= 1;
    listener(request, response);
  };
}

/** Stops reading. `pause()` is not enough: Node's parser reads from the handle until the socket has a 'readable' listener. */
function stopReading(socket: Socket): void {
  socket.on('readable', () => undefined);
}

/**
 * Makes a connection stay half open for `CLOSE_DELAY_MS` when it closes after a response. Otherwise a client that is still
 * sending its body could lose the response: the kernel resets a connection that is closed with unread data.
 */
export function delayClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  };
}
