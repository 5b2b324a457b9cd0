import type { Readable } from 'node:stream';

export interface StoredImage {
  /** The size in bytes. */
  size: number;
  stream: Readable;
}

/** A file to store as an image. */
export interface ImageFile {
  path: string;
  bytes: number;
  mediaType: string;
  /** Without the dot. */
  extension: string;
}

/** The store of images by name. It does not check who may see an image. */
export interface ImageStore {
  /** The kind of the store, which the table `installation` records. */
  readonly kind: 'disk' | 's3';

  /** Stores the file at `path` atomically and durably. May move the file away from `path`. */
  put(name: string, path: string): Promise<void>;
  /** Returns an image, or undefined if there is none with this name. */
  get(name: string): Promise<StoredImage | undefined>;
  /** Removes the image durably, if it exists. */
  remove(name: string): Promise<void>;
  /** Yields the names of all images. */
  list(): AsyncIterable<string>;

  /** Checks that the directory can be read and written, or that the bucket exists. @throws StoreUnavailableError */
  check(): Promise<void>;
  /** Returns the id of the installation that has claimed the store, if any. */
  claimedBy(): Promise<string | undefined>;
  /** Claims the store, even if another installation has claimed it. */
  claim(installation: string): Promise<void>;
  /** Removes the claim, whichever installation has made it. */
  release(): Promise<void>;
  close(): Promise<void>;
}
