import type { Readable } from 'node:stream';

export interface StoredImage {
  size: number;
  stream: Readable;
}

/** Image bytes by name. Who may see them is not decided here. */
export interface ImageStore {
  /** By which PostgreSQL remembers what it belongs to. */
  readonly kind: 'disk' | 's3';

  /** Takes the file at `path` in, whole or not at all. The file may be gone afterwards. */
  put(name: string, path: string): Promise<void>;
  /** Undefined when there is no such image. */
  get(name: string): Promise<StoredImage | undefined>;
  /** Removing what is not there is no error. */
  remove(name: string): Promise<void>;
  list(): AsyncIterable<string>;

  /** Whether it could take and give images now. @throws StoreUnavailable */
  check(): Promise<void>;
  /** Whose images these are: the installation that has marked the store, if any has. The mark is no image. */
  claimedBy(): Promise<string | undefined>;
  claim(installation: string): Promise<void>;
  /** Takes the mark off, whosever it is. */
  release(): Promise<void>;
  close(): Promise<void>;
}
