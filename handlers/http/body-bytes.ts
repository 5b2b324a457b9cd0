import type { IncomingMessage } from 'node:http';
import { badBody, bodyTooLarge, HttpError } from '../errors.js';

/*
 * The bytes of a request's body. They are read within limits, or discarded (drained): a client that is disconnected while it
 * is sending may never read its response.
 */

/** How many chunks of a body may be small. The packets of a slow network still have hundreds of bytes. */
const MAX_SMALL_CHUNKS = 30_000;
const SMALL_CHUNK_BYTES = 256;

/** Returns a function that counts a chunk, and returns whether too many were small: each takes as long as one of 64 KiB. */
function countSmallChunks(): (chunk: Uint8Array) => boolean {
  let count = 0;
  return ({ length }) => length < SMALL_CHUNK_BYTES && ++count > MAX_SMALL_CHUNKS;
}

/** A chunk of Node has up to 64 KiB. In a form, these may be 13,000 empty parts, which the parser could not process at once. */
const MAX_PIECE_BYTES = 8 * 1024;

/**
 * Iterates over the bytes of a body. The consumer can react to a piece before the next one follows. If the iteration ends
 * early, the rest of the body is drained.
 *
 * @throws HttpError 400 if the client disconnects or sends too many small chunks, 413
 */
export async function* readBytes(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer, void> {
  let size = 0;
  const exceedsSmallChunks = countSmallChunks();
  try {
    // Leaving the loop must not destroy the stream and with it the connection, which is needed for the response.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes) throw bodyTooLarge(maxBytes);
      if (exceedsSmallChunks(chunk)) throw badBody('incomplete_body', 'must be sent in larger chunks');
      for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES) {
        yield chunk.subarray(at, at + MAX_PIECE_BYTES);
        await new Promise(process.nextTick);
      }
    }
  } catch (error) {
    throw error instanceof HttpError ? error : badBody('incomplete_body');
  } finally {
    request.resume();
  }
}

/** The limits within which a body is drained after its response was sent. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const MAX_DRAIN_MS = 30_000;
const DRAIN_CHECK_INTERVAL_MS = 100;

/** Limits the draining of a body that is still arriving after its response was sent. Beyond it, the connection is destroyed. */
export function limitDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const startedAt = performance.now();
  const exceedsSmallChunks = countSmallChunks();
  request.on('data', (chunk: Buffer) => {
    if (exceedsSmallChunks(chunk)) socket.destroy();
  });
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MAX_DRAINED_BYTES || performance.now() - startedAt > MAX_DRAIN_MS)
      socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, DRAIN_CHECK_INTERVAL_MS).unref();
}
