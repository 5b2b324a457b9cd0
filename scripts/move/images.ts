import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ImageStore } from '../../db/images/index.js';
import { chunks, withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import type { OnDifference } from './rows.js';
import type { MoveStores } from './stores.js';

const CONCURRENT_IMAGES = 8;

export async function isEmpty(images: ImageStore): Promise<boolean> {
  for await (const _ of images.list()) return false;
  return true;
}

/**
 * Copies the images that the target does not have yet. An image that it has is complete and identical to that of the source:
 * `put` is atomic, and the service never uses a name twice.
 */
export async function copyImages({ source, target }: MoveStores, progress: Progress): Promise<void> {
  const existing = new Set(await listNames(target.images));
  const missing = (await listNames(source.images)).filter((name) => !existing.has(name));
  await forEachImage(missing, 'copying images', progress, async (name) => {
    const image = await source.images.get(name);
    if (!image) return;
    // In the target's data directory, because `put` moves the file, which requires the same file system.
    const path = join(target.directory.uploads, randomUUID());
    try {
      await pipeline(image.stream, createWriteStream(path));
      await target.images.put(name, path);
    } finally {
      await rm(path, { force: true });
    }
  });
}

export async function compareImages(
  { source, target }: MoveStores,
  progress: Progress,
  onDifference: OnDifference,
): Promise<void> {
  const names = new Set([...(await listNames(source.images)), ...(await listNames(target.images))]);
  await forEachImage([...names], 'comparing images', progress, async (name) => {
    const [sourceDigest, targetDigest] = await Promise.all([digest(source.images, name), digest(target.images, name)]);
    if (targetDigest === undefined) onDifference(`image ${name} is missing`);
    else if (sourceDigest === undefined) onDifference(`image ${name} is unexpected`);
    else if (sourceDigest !== targetDigest) onDifference(`image ${name} differs`);
  });
}

async function listNames(images: ImageStore): Promise<string[]> {
  const names: string[] = [];
  for await (const name of images.list()) names.push(name);
  return names;
}

async function digest(images: ImageStore, name: string): Promise<string | undefined> {
  const image = await images.get(name);
  if (!image) return undefined;
  const hash = createHash('sha256');
  await pipeline(image.stream, hash);
  return hash.digest('hex');
}

/**
 * Runs `action` for all images, in batches. If one image fails, waits for the rest of its batch before it throws: the stores
 * must not be closed while images are read from them.
 */
async function forEachImage(
  names: readonly string[],
  step: string,
  progress: Progress,
  action: (name: string) => Promise<void>,
): Promise<void> {
  for await (const batch of withProgress(chunks(names, CONCURRENT_IMAGES), step, names.length, progress)) {
    const failed = (await Promise.allSettled(batch.map(action))).find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }
}
