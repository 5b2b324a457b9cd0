import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoundedQueue } from '../../db/support/bounded-queue.js';
import { addressKey } from '../addresses.js';
import { abortOnClose } from './abort-on-close.js';

/*
 * A memory budget for large responses. A response stays in memory until its client has read it. Without a limit, slow
 * clients could therefore use all memory of the process.
 *
 * A large response acquires its size from a shared budget, and returns it when the response closes. An image acquires only what
 * its stream keeps in memory, from a separate budget: slow downloads do not delay other responses. One address may use at most
 * a quarter of a budget. Connections that make no progress are closed by the slow-reader sweep (slow-readers.ts), which returns
 * their share.
 */

/** Payloads up to this size do not count towards the budget. */
const LARGE_RESPONSE_BYTES = 64 * 1024;

/** The size of the chunks that are written to a connection. The slow-reader sweep sees progress after each chunk. */
const CHUNK_BYTES = 64 * 1024;

const BUDGET_BYTES = 64 * 1024 * 1024;

/** Creates a budget. The weights of its queue are bytes, and the keys are addresses. */
export const createResponseBudget = () =>
  new BoundedQueue({
    maxRunning: BUDGET_BYTES,
    maxRunningPerKey: BUDGET_BYTES / 4,
    maxWaiting: BUDGET_BYTES,
    maxWaitMs: 2000,
  });

/** Waits until the budget has room for this many bytes, which are returned when the response closes. */
async function acquireUntilClose(
  budget: BoundedQueue,
  bytes: number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const release = await budget.acquire({ weight: bytes, key: addressKey(request.ip), signal: abortOnClose(reply) });
  reply.raw.once('close', release);
}

/**
 * Returns a payload to send: a small one immediately, and a large one as a stream when the budget allows it. The stream
 * produces chunks as fast as the client reads them.
 *
 * A caller should return the promise without awaiting it, so that it keeps nothing else in memory while the payload waits.
 *
 * @throws OverloadedError, ClientDisconnectedError
 */
export function withinBudget(
  budget: BoundedQueue,
  bytes: Buffer,
  request: FastifyRequest,
  reply: FastifyReply,
): Buffer | Promise<Readable> {
  if (bytes.length <= LARGE_RESPONSE_BYTES) return bytes;
  return acquireUntilClose(budget, bytes.length, request, reply).then(() => {
    reply.header('Content-Length', bytes.length);
    return chunksOf(bytes);
  });
}

/**
 * Waits until the budget allows a stream to be sent. Acquires the stream's high-water mark, which is the number of bytes that
 * it may keep in memory for a slow client. Destroys the stream if it cannot be sent.
 *
 * @throws OverloadedError, ClientDisconnectedError
 */
export async function acquireForStream(
  budget: BoundedQueue,
  stream: Readable,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const bytes = stream.readableHighWaterMark;
  if (bytes <= LARGE_RESPONSE_BYTES) return;
  await acquireUntilClose(budget, bytes, request, reply).catch((error) => {
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
