import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DURATION_MS = 30_000;
const CHECK_INTERVAL_MS = 100;

/**
 * Bounds what is left of a body when its request has been answered. It runs off unread, since a sender who is cut off may
 * never see the answer; but not for ever, or one request could keep the service busy as long as it likes.
 */
export function limitDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const began = Date.now();
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MAX_BYTES || Date.now() - began > MAX_DURATION_MS) socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, CHECK_INTERVAL_MS).unref();
}
