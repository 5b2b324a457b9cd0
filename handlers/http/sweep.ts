import type { Socket } from 'node:net';

/**
 * How slowly a client may read. Progress shows in jumps: the kernel takes more only when a third of its buffer is free
 * again, which is up to a megabyte on a fast network and some ten kilobytes on a slow one. The grace period covers them.
 */
const LIMITS = { graceMs: 30_000, minBytesPerSecond: 8 * 1024 };

const INTERVAL_MS = 5000;

/** What a connection had passed to the kernel when it was first seen with unsent bytes. */
interface Progress {
  since: number;
  bytes: number;
}

/**
 * Creates a sweep that closes connections whose clients read too slowly or not at all: they hold responses, and what those
 * are read from.
 */
export function createSweep(open: Iterable<Socket>, limits = LIMITS): (now: number) => void {
  const seen = new WeakMap<Socket, Progress>();
  return (now) => {
    for (const socket of open) {
      if (socket.writableLength === 0) {
        seen.delete(socket);
        continue;
      }
      const bytes = socket.bytesWritten - socket.writableLength;
      const first = seen.get(socket);
      if (!first) seen.set(socket, { since: now, bytes });
      else if (bytes - first.bytes < ((now - first.since - limits.graceMs) / 1000) * limits.minBytesPerSecond) {
        socket.destroy();
      }
    }
  };
}

/** @returns a function that stops the sweep */
export function startSweep(open: Iterable<Socket>): () => void {
  const sweep = createSweep(open);
  const timer = setInterval(() => sweep(performance.now()), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
