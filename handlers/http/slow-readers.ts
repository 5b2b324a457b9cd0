import type { Socket } from 'node:net';

/*
 * The slow-reader sweep: closes connections whose clients read their responses too slowly or not at all. Such a client occupies
 * the memory of its response, and the file or stream from which the response is read.
 *
 * The sweep runs periodically. A connection that has unsent data at several consecutive sweeps is closed, unless the kernel has
 * accepted its bytes at a minimum rate since the first of these sweeps.
 *
 * The kernel accepts bytes in steps, whenever a third of its send buffer is free. A step is up to a megabyte on a fast
 * network, and about ten kilobytes on a slow one. Between two steps, a connection seems to make no progress. The grace period
 * allows for this.
 */

/** The minimum rate at which a client must read, after a grace period. */
const LIMITS = { graceMs: 30_000, minBytesPerSecond: 8 * 1024 };

const SWEEP_INTERVAL_MS = 5000;

/** The time at which a sweep first saw unsent data, and how many bytes the kernel had accepted by then. */
interface Baseline {
  time: number;
  acceptedBytes: number;
}

/** Creates a function that runs one sweep. `now` is the current time in milliseconds. */
export function createSlowReaderSweep(openSockets: Iterable<Socket>, limits = LIMITS): (now: number) => void {
  const baselines = new WeakMap<Socket, Baseline>();
  return (now) => {
    for (const socket of openSockets) {
      if (socket.writableLength === 0) {
        baselines.delete(socket);
        continue;
      }
      const acceptedBytes = socket.bytesWritten - socket.writableLength;
      const baseline = baselines.get(socket);
      if (!baseline) {
        baselines.set(socket, { time: now, acceptedBytes });
        continue;
      }
      const seconds = (now - baseline.time - limits.graceMs) / 1000;
      if (acceptedBytes - baseline.acceptedBytes < seconds * limits.minBytesPerSecond) socket.destroy();
    }
  };
}

/** Starts to run the sweep periodically. Returns a function that stops it. */
export function startSlowReaderSweep(openSockets: Iterable<Socket>): () => void {
  const sweep = createSlowReaderSweep(openSockets);
  const timer = setInterval(() => sweep(performance.now()), SWEEP_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
