import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressKey } from '../addresses.js';
import { clientClosed, overloaded } from '../errors.js';

/*
 * A memory budget for large responses. A response stays in memory until its client has read it. Without a limit, slow
 * clients could therefore use all memory of the process.
 *
 * A large response acquires its size from a shared budget, and returns it when the response closes. An image acquires only what
 * its stream keeps in memory, from a separate budget: slow downloads do not delay other responses. One address may use at most
 * a quarter of a budget, so that no single client can block the others.
 *
 * A response that does not fit waits in a first-in, first-out queue. If it fits the budget but exceeds the share of its
 * address, responses behind it may overtake it. If the queue is full, or the response waits too long, the client gets a 503
 * instead. Connections that make no progress are closed by the slow-reader sweep (slow-readers.ts), which returns their share.
 */

/** Payloads up to this size do not count towards the budget. */
const LARGE_RESPONSE_BYTES = 64 * 1024;

/** The size of the chunks that are written to a connection. The slow-reader sweep sees progress after each chunk. */
const CHUNK_BYTES = 64 * 1024;

/** `maxUnsentBytes` is the size of the budget, and `maxWaitingBytes` that of the queue. */
const LIMITS = { maxUnsentBytes: 64 * 1024 * 1024, maxWaitingBytes: 64 * 1024 * 1024, maxWaitMs: 2000 };

/** The share of the budget that one address may use. */
const ADDRESS_SHARE = 0.25;

export interface ResponseBudget {
  /**
   * Waits until a payload fits the budget. Its bytes are returned to the budget when `response` closes.
   *
   * @throws HttpError 503 if the queue is full or the waiting time is over, 499 if the client disconnects
   */
  acquire(bytes: number, address: string, response: ServerResponse): Promise<void>;
  /**
   * The bytes of the responses that are being sent and of those in the queue, and the number of responses replaced by a
   * 503.
   */
  readonly usage: { readonly unsentBytes: number; readonly waitingBytes: number; readonly refused: number };
}

interface Waiter {
  bytes: number;
  address: string;
  start(): void;
}

export function createResponseBudget(limits: typeof LIMITS = LIMITS): ResponseBudget {
  const usage = { unsentBytes: 0, waitingBytes: 0, refused: 0 };
  const unsentByAddress = new Map<string, number>();
  const queue = new Set<Waiter>();

  /** Returns whether a payload fits within a bound. A payload that is larger than the bound fits if nothing else is in use. */
  const fits = (bytes: number, used: number, bound: number) => used === 0 || used + bytes <= bound;

  function addUnsent(bytes: number, address: string): void {
    usage.unsentBytes += bytes;
    const unsentBytes = (unsentByAddress.get(address) ?? 0) + bytes;
    if (unsentBytes > 0) unsentByAddress.set(address, unsentBytes);
    else unsentByAddress.delete(address);
  }

  /** Starts the responses in the queue that fit. */
  function startWaiters(): void {
    for (const waiter of queue) {
      const { bytes, address } = waiter;
      if (!fits(bytes, usage.unsentBytes, limits.maxUnsentBytes)) return;
      const unsentBytes = unsentByAddress.get(address) ?? 0;
      if (fits(bytes, unsentBytes, limits.maxUnsentBytes * ADDRESS_SHARE)) waiter.start();
    }
  }

  /** Counts a refused response, and returns the error for it. */
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
        /** Gives up waiting. Responses behind this one may fit now. */
        const giveUp = (error: Error) => {
          leaveQueue();
          startWaiters();
          reject(error);
        };
        const abandon = () => giveUp(clientClosed());
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
        // Also starts this response, if it fits.
        startWaiters();
        if (!queue.has(waiter)) return undefined;
        response.once('close', abandon);
        if (usage.waitingBytes > limits.maxWaitingBytes) {
          leaveQueue();
          return reject(refuse());
        }
        timer = setTimeout(() => giveUp(refuse()), limits.maxWaitMs);
        return undefined;
      });
    },
  };
}

/**
 * Returns a payload to send: a small one immediately, and a large one as a stream when the budget allows it. The stream
 * produces chunks as fast as the client reads them.
 *
 * A caller should return the promise without awaiting it, so that it keeps nothing else in memory while the payload waits.
 *
 * @throws HttpError 499, 503
 */
export function withinBudget(
  budget: ResponseBudget,
  bytes: Buffer,
  request: FastifyRequest,
  reply: FastifyReply,
): Buffer | Promise<Readable> {
  if (bytes.length <= LARGE_RESPONSE_BYTES) return bytes;
  return budget.acquire(bytes.length, addressKey(request.ip), reply.raw).then(() => {
    reply.header('Content-Length', bytes.length);
    return chunksOf(bytes);
  });
}

/**
 * Waits until the budget allows a stream to be sent. Acquires the stream's high-water mark, which is the number of bytes that
 * it may keep in memory for a slow client. Destroys the stream if it cannot be sent.
 *
 * @throws HttpError 499, 503
 */
export async function acquireForStream(
  budget: ResponseBudget,
  stream: Readable,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const bytes = stream.readableHighWaterMark;
  if (bytes <= LARGE_RESPONSE_BYTES) return;
  await budget.acquire(bytes, addressKey(request.ip), reply.raw).catch((error) => {
    stream.destroy();
    throw error;
  });
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
