import type { Readable } from 'node:stream';

export interface StoredImage {
  /** In bytes. */
  size: number;
  stream: Readable;
}

/** Stores images by name. Does not check visibility. */
export interface ImageStore {
  /** Recorded in the `installation` table. */
  readonly kind: 'disk' | 's3';

  /** Stores the file at `path` atomically. The file may be moved. */
  put(name: string, path: string): Promise<void>;
  /** Returns undefined if there is no such image. */
  get(name: string): Promise<StoredImage | undefined>;
  /** Removes the image durably, if it exists. */
  remove(name: string): Promise<void>;
  /** Yields the names of all images. */
  list(): AsyncIterable<string>;

  /** Checks that images can be read and written. @throws StoreUnavailableError */
  check(): Promise<void>;
  /** Returns the installation that has claimed the store, if any. */
  claimedBy(): Promise<string | undefined>;
  /** Claims the store, even if another installation has claimed it. */
  claim(installation: string): Promise<void>;
  /** Removes the claim of any installation. */
  release(): Promise<void>;
  close(): Promise<void>;
}
