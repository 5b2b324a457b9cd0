import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many pipelined requests of one connection may wait for their turn. */
const MAX_WAITING = 32;

/** How long a connection stays half open for a client that is still sending, in milliseconds. */
const CLOSE_DELAY_MS = 2000;

interface Pipeline {
  waiting: number;
  last: ServerResponse;
}

/** Only connections on which requests have waited are in it. */
const pipelines = new WeakMap<Socket, Pipeline>();

/**
 * Wraps a request listener so that it gets the requests of one connection one at a time. Node parses all requests of a
 * TCP segment, about a thousand in 64 KiB, and starts them together: a client over its limit would cost as many responses
 * before the first one could close the connection. Here that first one drops all that wait behind it.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = response;
    if (socket === null) wait(request, response, listener);
    // A connection that is being closed takes no more requests.
    else if (!socket.writableEnded) listener(request, response);
  };
}

/** Node itself keeps responses in order: it gives a response its socket when the one before it has been sent. */
function wait(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
  const { socket } = request;
  const pipeline = pipelines.get(socket) ?? { waiting: 0, last: response };
  pipelines.set(socket, pipeline);
  if (pipeline.waiting >= MAX_WAITING) {
    // The client has to send what comes after on a new connection (RFC 9112 section 9.3.2).
    pipeline.last.shouldKeepAlive = false;
    if (pipeline.waiting === MAX_WAITING) stopReading(socket);
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

/** `pause()` is not enough: Node's parser reads from the kernel by itself until the socket has a listener of its own. */
function stopReading(socket: Socket): void {
  socket.on('readable', () => undefined);
}

/**
 * Makes a connection stay half open for a moment when it closes after a response. A client that is still sending its body
 * may lose the response otherwise: the kernel resets a connection that is closed with unread data.
 */
export function delayClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  };
}
