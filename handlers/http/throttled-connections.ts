import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { addressKey } from '../addresses.js';

/*
 * Delays new connections from addresses that continue to send after they have exceeded their rate limit.
 *
 * Node parses all requests that one read returns before the first of them can be refused. For 64 KiB of small requests, this
 * takes tens of milliseconds. Without the delay, a few clients that reconnect after each 429 could keep the process busy.
 *
 * The new connections of such an address are read one after another, at a fixed interval. A connection that would have to
 * wait too long is closed.
 */

/** The number of refused requests in a window after which new connections of an address are delayed. */
const MAX_REFUSED = 10;

/** The interval at which the new connections of a delayed address are read. */
const READ_INTERVAL_MS = 1000;

/** The maximum delay. A connection that would have to wait longer is closed. */
const MAX_DELAY_MS = 10_000;

/** The maximum number of addresses whose refused requests are counted. */
const MAX_ADDRESSES = 10_000;

interface Refusals {
  count: number;
  /** The time at which the latest connection is first read, by `performance.now()`. */
  lastReadAt: number;
}

/**
 * Installs the delay on a server.
 *
 * @returns a function that counts a refused request of an address; the count is kept until the rate limit window ends
 */
export function delayThrottledAddresses(server: Server): (address: string, windowLeftMs: number) => void {
  /** By `addressKey`. */
  const addresses = new LRUCache<string, Refusals>({ max: MAX_ADDRESSES });

  server.on('connection', (socket: Socket) => {
    const refusals = addresses.get(addressKey(socket.remoteAddress));
    if (!refusals || refusals.count < MAX_REFUSED) return;
    const now = performance.now();
    const readAt = Math.max(now, refusals.lastReadAt) + READ_INTERVAL_MS;
    if (readAt - now > MAX_DELAY_MS) {
      socket.destroy();
      return;
    }
    refusals.lastReadAt = readAt;
    socket.pause();
    const timer = setTimeout(() => socket.resume(), readAt - now).unref();
    socket.once('close', () => clearTimeout(timer));
  });

  return (address, windowLeftMs) => {
    const key = addressKey(address);
    const { count, lastReadAt } = addresses.get(key) ?? { count: 0, lastReadAt: 0 };
    addresses.set(key, { count: count + 1, lastReadAt }, { ttl: Math.max(windowLeftMs, 1) });
  };
}
