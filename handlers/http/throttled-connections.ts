import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';

/** How many refused requests in a window make an address a flooder. */
const MAX_REFUSED = 10;

/** A flooder's new connections are read one after another, at this interval. */
const READ_INTERVAL_MS = 1000;

/** A connection that would wait longer is closed. */
const MAX_DELAY_MS = 10_000;

const MAX_ADDRESSES = 10_000;

interface Refusals {
  count: number;
  /** By `performance.now()`. */
  nextReadAt: number;
}

/**
 * Delays the first read of new connections from addresses that go on beyond their rate limit. Node parses all requests of a
 * TCP segment before the first one can be refused, tens of milliseconds for 64 KiB of small ones. Without the delay a few
 * clients that reconnect after each 429 keep the process busy.
 *
 * @returns a function that counts a refused request of an address, until its window ends
 */
export function delayFlooders(server: Server): (address: string, windowLeftMs: number) => void {
  const addresses = new LRUCache<string, Refusals>({ max: MAX_ADDRESSES });

  server.on('connection', (socket: Socket) => {
    const refusals = addresses.get(socket.remoteAddress ?? '');
    if (!refusals || refusals.count < MAX_REFUSED) return;
    const now = performance.now();
    const readAt = Math.max(now, refusals.nextReadAt) + READ_INTERVAL_MS;
    if (readAt - now > MAX_DELAY_MS) {
      socket.destroy();
      return;
    }
    refusals.nextReadAt = readAt;
    socket.pause();
    const timer = setTimeout(() => socket.resume(), readAt - now).unref();
    socket.once('close', () => clearTimeout(timer));
  });

  return (address, windowLeftMs) => {
    const { count, nextReadAt } = addresses.get(address) ?? { count: 0, nextReadAt: 0 };
    addresses.set(address, { count: count + 1, nextReadAt }, { ttl: Math.max(windowLeftMs, 1) });
  };
}
