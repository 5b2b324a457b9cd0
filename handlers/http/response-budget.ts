import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientClosed, overloaded } from './errors.js';

/*
 * A memory budget for large responses. A response stays in memory until its client has read it, so without a bound slow clients
 * could exhaust the process. A large response acquires its size from a shared budget and returns it when it closes. One address
 * may have a quarter of the budget, so that no single client can block the others.
 *
 * A response that does not fit waits in a first-in, first-out queue; one that only exceeds the share of its address lets
 * others pass. A response that finds the queue full, or waits too long, is replaced by a 503. The slow-reader sweep (sweep.ts)
 * closes connections that make no progress.
 */

/** Payloads up to this size are sent outside the budget. */
export const LARGE_RESPONSE_BYTES = 64 * 1024;

/** How much is written to a connection at a time. The sweep sees progress after each chunk. */
const CHUNK_BYTES = 64 * 1024;

const LIMITS = { unsentBytes: 64 * 1024 * 1024, waitingBytes: 64 * 1024 * 1024, waitMs: 2000 };

/** The share of the budget that one address may have. */
const ADDRESS_SHARE = 0.25;

export interface ResponseBudget {
  /**
   * Waits until a payload may be sent. Its bytes are returned to the budget when the response closes.
   *
   * @throws HttpError 503, 499 if the client disconnects
   */
  acquire(bytes: number, address: string, response: ServerResponse): Promise<void>;
  /** The bytes of responses being sent and of those in the queue, and the number of refused responses. */
  readonly usage: { readonly unsentBytes: number; readonly waitingBytes: number; readonly refused: number };
}

interface Waiter {
  bytes: number;
  address: string;
  start(): void;
}

/** Creates a response budget. */
export function createResponseBudget(limits: typeof LIMITS = LIMITS): ResponseBudget {
  const usage = { unsentBytes: 0, waitingBytes: 0, refused: 0 };
  const unsentByAddress = new Map<string, number>();
  const queue = new Set<Waiter>();

  /** Returns whether a payload fits. One that is larger than the bound fits if it is the only one. */
  const fits = (bytes: number, used: number, bound: number) => used === 0 || used + bytes <= bound;

  function addUnsent(bytes: number, address: string): void {
    usage.unsentBytes += bytes;
    const unsentBytes = (unsentByAddress.get(address) ?? 0) + bytes;
    if (unsentBytes > 0) unsentByAddress.set(address, unsentBytes);
    else unsentByAddress.delete(address);
  }

  function startWaiters(): void {
    for (const waiter of queue) {
      const { bytes, address } = waiter;
      if (!fits(bytes, usage.unsentBytes, limits.unsentBytes)) return;
      const unsentBytes = unsentByAddress.get(address) ?? 0;
      if (fits(bytes, unsentBytes, limits.unsentBytes * ADDRESS_SHARE)) waiter.start();
    }
  }

  function refuse(): Error {
    usage.refused += 1;
    return overloaded();
  }

  return {
    usage,
    acquire(bytes, address, response) {
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const leaveQueue = () => {
          if (queue.delete(waiter)) usage.waitingBytes -= bytes;
          clearTimeout(timer);
          response.off('close', abandon);
        };
        const abandon = () => {
          leaveQueue();
          reject(clientClosed());
        };
        const waiter: Waiter = {
          bytes,
          address,
          start() {
            leaveQueue();
            addUnsent(bytes, address);
            response.once('close', () => {
              addUnsent(-bytes, address);
              startWaiters();
            });
            resolve();
          },
        };
        if (response.destroyed) return reject(clientClosed());
        queue.add(waiter);
        usage.waitingBytes += bytes;
        startWaiters();
        if (!queue.has(waiter)) return undefined;
        response.once('close', abandon);
        if (usage.waitingBytes > limits.waitingBytes) {
          leaveQueue();
          return reject(refuse());
        }
        timer = setTimeout(() => {
          leaveQueue();
          reject(refuse());
        }, limits.waitMs);
        return undefined;
      });
    },
  };
}

/**
 * Returns a stream of a large payload once the budget allows it to be sent. The stream produces chunks as fast as the client
 * reads them.
 *
 * @throws HttpError 503
 */
export async function sendLargeResponse(
  budget: ResponseBudget,
  bytes: Buffer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Readable> {
  await budget.acquire(bytes.length, request.ip, reply.raw);
  reply.header('Content-Length', bytes.length);
  return chunksOf(bytes);
}

function chunksOf(bytes: Buffer): Readable {
  let offset = 0;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      this.push(offset < bytes.length ? bytes.subarray(offset, offset + CHUNK_BYTES) : null);
      offset += CHUNK_BYTES;
    },
  });
}
