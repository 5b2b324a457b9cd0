import type { FileHandle } from 'node:fs/promises';
import { UnreadableImageError } from './errors.js';

/** How much of a file is in memory at a time. */
export const CHUNK_BYTES = 64 * 1024;

/**
 * Reads an open file through one buffer of fixed size. Returned buffers are views of it, so they hold only until the next
 * read. Callers try `peek` first, because an `await` for every few bytes costs more than the parsing.
 */
export class ImageFile {
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #start = 0;
  #length = 0;

  constructor(
    readonly handle: FileHandle,
    readonly size: number,
  ) {}

  /** Returns the bytes if they are in the buffer. */
  peek(at: number, length: number): Buffer | undefined {
    const from = at - this.#start;
    return from >= 0 && from + length <= this.#length ? this.#buffer.subarray(from, from + length) : undefined;
  }

  /**
   * Returns exactly these bytes, at most `CHUNK_BYTES`.
   *
   * @throws UnreadableImageError when the file ends before
   */
  async read(at: number, length: number): Promise<Buffer> {
    if (at + length > this.size) throw new UnreadableImageError('The file ends too early.');
    await this.#fill(at);
    return this.#buffer.subarray(0, length);
  }

  /** Returns what the buffer holds from here on, at least one byte unless the file has ended. */
  async readOn(at: number): Promise<Buffer> {
    const from = at - this.#start;
    if (from >= 0 && from < this.#length) return this.#buffer.subarray(from, this.#length);
    await this.#fill(at);
    return this.#buffer.subarray(0, this.#length);
  }

  async #fill(at: number): Promise<void> {
    this.#start = at;
    this.#length = 0;
    while (this.#length < CHUNK_BYTES) {
      const { bytesRead } = await this.handle.read(
        this.#buffer,
        this.#length,
        CHUNK_BYTES - this.#length,
        at + this.#length,
      );
      if (bytesRead === 0) break;
      this.#length += bytesRead;
    }
    if (this.#length < Math.min(CHUNK_BYTES, this.size - at)) throw new Error('An uploaded file has become shorter.');
  }
}
