import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DURATION_MS = 30_000;
const CHECK_INTERVAL_MS = 100;

/**
 * Limits the draining of a body that is still arriving after the response. The rest of the body is read and discarded, since a
 * client that is disconnected while it sends may never see the response. Beyond the limit the connection is destroyed.
 */
export function limitDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const startedAt = Date.now();
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MAX_BYTES || Date.now() - startedAt > MAX_DURATION_MS) socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, CHECK_INTERVAL_MS).unref();
}
