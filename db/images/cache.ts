import { LRUCache } from 'lru-cache';
import type { ImageStore } from './index.js';
import { SMALL_IMAGE_BYTES, streamOf } from './small-images.js';

/** The maximum total size of the entries. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** The approximate size of an entry besides its image. */
const ENTRY_OVERHEAD_BYTES = 1024;

interface CachedImage {
  size: number;
  chunks: readonly Buffer[];
}

/**
 * Wraps a store so that small images that were read recently are served from memory. An image never changes and its name is
 * never used again, so an entry is never stale. If an image is removed by another process, or while `get` reads it, its entry
 * remains until it is evicted. This is harmless, because no row refers to the image.
 */
export function withCache(store: ImageStore, maxBytes = MAX_CACHED_BYTES): ImageStore {
  const cache = new LRUCache<string, CachedImage>({
    maxSize: maxBytes,
    sizeCalculation: ({ size }) => size + ENTRY_OVERHEAD_BYTES,
  });

  return {
    ...store,
    async get(name) {
      const cached = cache.get(name);
      if (cached) return { size: cached.size, stream: streamOf(cached.chunks) };
      const image = await store.get(name);
      if (!image || image.size > SMALL_IMAGE_BYTES) return image;
      const chunks = await image.stream.toArray();
      cache.set(name, { size: image.size, chunks });
      return { size: image.size, stream: streamOf(chunks) };
    },
    async remove(name) {
      await store.remove(name);
      cache.delete(name);
    },
  };
}
