/** How many chunks of a body may be small. The packets of a slow network still have hundreds of bytes. */
const MAX_SMALL_CHUNKS = 30_000;
const SMALL_CHUNK_BYTES = 256;

/**
 * Returns a function that counts a chunk of a body, and returns whether too many chunks were small. Node takes about as long for
 * a chunk of one byte as for one of 64 KiB, so a form or a drained body in tiny chunks would cost far more than its size. The
 * chunks of JSON are limited by its size.
 */
export function countSmallChunks(): (chunk: Uint8Array) => boolean {
  let count = 0;
  return ({ length }) => length < SMALL_CHUNK_BYTES && ++count > MAX_SMALL_CHUNKS;
}
