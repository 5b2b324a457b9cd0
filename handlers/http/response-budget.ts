import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from './errors.js';

/*
 * A memory budget for large responses. A response stays in memory until its client has read it, so without a bound slow clients
 * could exhaust the process. A large response acquires its size from a shared budget and returns it when it closes. One address
 * may have a quarter of the budget, so that no single client can block the others.
 *
 * A response that does not fit waits in a first-in, first-out queue; one that only exceeds the share of its address lets others
 * pass. A full queue or too long a wait is a 503. The slow-reader sweep (sweep.ts) closes connections that make no progress.
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
   * Resolves when a payload may be sent. Its bytes are returned to the budget when the response closes.
   *
   * @throws HttpError 503
   */
  acquire(bytes: number, address: string, response: ServerResponse): Promise<void>;
  /** Bytes that are being sent, bytes that wait, and the number of responses that were refused. */
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

  /** A payload larger than the bound fits if it is the only one. */
  const fits = (bytes: number, used: number, bound: number) => used === 0 || used + bytes <= bound;

  function add(bytes: number, address: string): void {
    usage.unsentBytes += bytes;
    const unsent = (unsentByAddress.get(address) ?? 0) + bytes;
    if (unsent > 0) unsentByAddress.set(address, unsent);
    else unsentByAddress.delete(address);
  }

  function startWaiters(): void {
    for (const waiter of queue) {
      const { bytes, address } = waiter;
      if (!fits(bytes, usage.unsentBytes, limits.unsentBytes)) return;
      const unsent = unsentByAddress.get(address) ?? 0;
      if (fits(bytes, unsent, limits.unsentBytes * ADDRESS_SHARE)) waiter.start();
    }
  }

  function refuse(): Error {
    usage.refused += 1;
    return unavailable('Too many large responses are being sent. Try again later.');
  }

  return {
    usage,
    acquire(bytes, address, response) {
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const leave = () => {
          if (queue.delete(waiter)) usage.waitingBytes -= bytes;
          clearTimeout(timer);
          response.off('close', abandon);
        };
        const abandon = () => {
          leave();
          reject(unavailable());
        };
        const waiter: Waiter = {
          bytes,
          address,
          start() {
            leave();
            add(bytes, address);
            response.once('close', () => {
              add(-bytes, address);
              startWaiters();
            });
            resolve();
          },
        };
        if (response.destroyed) return reject(unavailable());
        queue.add(waiter);
        usage.waitingBytes += bytes;
        startWaiters();
        if (!queue.has(waiter)) return undefined;
        response.once('close', abandon);
        if (usage.waitingBytes > limits.waitingBytes) {
          leave();
          return reject(refuse());
        }
        timer = setTimeout(() => {
          leave();
          reject(refuse());
        }, limits.waitMs);
        return undefined;
      });
    },
  };
}

/**
 * Returns a stream of a large payload once the budget allows it. The stream reads in chunks as the client does.
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
