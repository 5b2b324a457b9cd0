import type { Socket } from 'node:net';

/*
 * The slow-reader sweep closes connections whose clients read their responses too slowly or not at all. Such a client holds
 * the response in memory, and the file or stream that it is read from. At an interval, the sweep examines each connection that
 * had unsent data at an earlier sweep and ever since: the kernel must have accepted its bytes at a minimum rate.
 *
 * Progress comes in steps: the kernel accepts more only when a third of its send buffer is free, which is up to a megabyte on
 * a fast network and some ten kilobytes on a slow one. The grace period covers such a step.
 */

/** The minimum rate of a client, after the grace period. */
const LIMITS = { graceMs: 30_000, minBytesPerSecond: 8 * 1024 };

const SWEEP_INTERVAL_MS = 5000;

/** The time when a sweep first saw unsent data, and the bytes that the kernel had accepted by then. */
interface Baseline {
  time: number;
  acceptedBytes: number;
}

/** Creates a function that runs one sweep. `now` is in milliseconds. */
export function createSlowReaderSweep(open: Iterable<Socket>, limits = LIMITS): (now: number) => void {
  const baselines = new WeakMap<Socket, Baseline>();
  return (now) => {
    for (const socket of open) {
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

/** Runs the sweep at an interval. Returns a function that stops it. */
export function startSlowReaderSweep(open: Iterable<Socket>): () => void {
  const sweep = createSlowReaderSweep(open);
  const timer = setInterval(() => sweep(performance.now()), SWEEP_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
