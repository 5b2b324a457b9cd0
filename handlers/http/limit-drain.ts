import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 64 * 1024 * 1024;
const LONGEST = 30_000;
const LOOK_EVERY = 100;

/**
 * Bounds what is left of a body when its request has been answered. It runs off unread, since a sender who is cut off may
 * never see the answer; but not for ever, or one request could keep the service busy as long as it likes.
 */
export function boundDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const began = Date.now();
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MOST_BYTES || Date.now() - began > LONGEST) socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, LOOK_EVERY).unref();
}
