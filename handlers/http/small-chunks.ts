/*
 * Bodies in small chunks. A chunk of one byte takes hundreds of bytes of memory, and Node takes about as long for it as for one
 * of 64 KiB. So a body in tiny chunks could cost far more than its size.
 */

/** The number of chunks that are kept before they are copied together. */
const MAX_KEPT_CHUNKS = 256;

/** Collects the chunks of a body. Copies chunks together from time to time, which frees the memory that small ones take. */
export class ByteCollector {
  #chunks: Uint8Array[] = [];

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length === MAX_KEPT_CHUNKS) this.#chunks = [this.bytes()];
  }

  /** Returns all bytes so far. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** How many chunks of a body may be small. The packets of a slow network still have hundreds of bytes. */
const MAX_SMALL_CHUNKS = 30_000;
const SMALL_CHUNK_BYTES = 256;

/**
 * Returns a function that counts a chunk of a form or of a drained body, and returns whether too many chunks were small. The
 * number of chunks of JSON is limited by its size.
 */
export function countSmallChunks(): (chunk: Uint8Array) => boolean {
  let count = 0;
  return ({ length }) => length < SMALL_CHUNK_BYTES && ++count > MAX_SMALL_CHUNKS;
}
