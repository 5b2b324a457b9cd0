/** The number of chunks that are kept before they are copied together. */
const MAX_CHUNKS = 256;

/**
 * Collects the chunks of a body. Copies chunks together from time to time, because even a chunk of one byte takes hundreds of
 * bytes of memory.
 */
export class ByteCollector {
  #chunks: Uint8Array[] = [];

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length === MAX_CHUNKS) this.#chunks = [this.bytes()];
  }

  /** Returns all bytes so far. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
