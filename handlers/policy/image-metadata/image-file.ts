import type { FileHandle } from 'node:fs/promises';
import { UnreadableImageError } from './errors.js';

/** The size of the read buffer in bytes, and the maximum length of one read. */
export const READ_BUFFER_BYTES = 64 * 1024;

/**
 * Reads an open file through one buffer of fixed size. The returned buffers are views of it, and valid only until the next
 * read.
 */
export class ImageFile {
  readonly #buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
  #start = 0;
  #length = 0;

  constructor(
    readonly handle: FileHandle,
    readonly size: number,
  ) {}

  /**
   * Reads exactly `length` bytes, which must be at most `READ_BUFFER_BYTES`. Returns a promise only if they are not buffered
   * yet, because elements have few bytes, and a promise takes more time than parsing them.
   *
   * @throws UnreadableImageError if the file is too short
   */
  read(at: number, length: number): Buffer | Promise<Buffer> {
    if (at + length > this.size) throw new UnreadableImageError('The file is truncated');
    const from = at - this.#start;
    if (from >= 0 && from + length <= this.#length) return this.#buffer.subarray(from, from + length);
    return this.#fill(at).then(() => this.#buffer.subarray(0, length));
  }

  /**
   * Returns the buffered bytes from `at` on. Reads the file if there are none. Returns at least one byte, unless `at` is
   * the end of the file.
   */
  async readAvailable(at: number): Promise<Buffer> {
    const from = at - this.#start;
    if (from >= 0 && from < this.#length) return this.#buffer.subarray(from, this.#length);
    await this.#fill(at);
    return this.#buffer.subarray(0, this.#length);
  }

  /** Fills the buffer with the bytes from `at` on. */
  async #fill(at: number): Promise<void> {
    this.#start = at;
    this.#length = 0;
    const wanted = Math.min(READ_BUFFER_BYTES, this.size - at);
    while (this.#length < wanted) {
      const { bytesRead } = await this.handle.read(
        this.#buffer,
        this.#length,
        wanted - this.#length,
        at + this.#length,
      );
      if (bytesRead === 0) throw new Error('The uploaded file was truncated while it was being read');
      this.#length += bytesRead;
    }
  }
}
