import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ImageStore } from '../../db/images/index.js';
import type { Progress } from '../../db/support/progress.js';
import type { Found } from './found.js';

/** How many images are under way at once. */
const AT_ONCE = 8;

export async function isEmpty(images: ImageStore): Promise<boolean> {
  for await (const _ of images.list()) return false;
  return true;
}

/**
 * Copies the images that are not there yet. A store takes an image whole or not at all, and never another one under the same
 * name, so what is there needs no second look.
 *
 * @param uploads where bytes may rest between the two, on the target's file system
 */
export async function carryImages(
  source: ImageStore,
  target: ImageStore,
  uploads: string,
  progress: Progress,
): Promise<void> {
  const there = new Set(await namesIn(target));
  const missing = (await namesIn(source)).filter((name) => !there.has(name));
  await forEach(missing, 'copying images', progress, async (name) => {
    const image = await source.get(name);
    if (!image) return;
    const path = join(uploads, randomUUID());
    try {
      await pipeline(image.stream, createWriteStream(path));
      await target.put(name, path);
    } finally {
      await rm(path, { force: true });
    }
  });
}

export async function compareImages(
  source: ImageStore,
  target: ImageStore,
  progress: Progress,
  found: Found,
): Promise<void> {
  const names = new Set([...(await namesIn(source)), ...(await namesIn(target))]);
  await forEach([...names], 'comparing images', progress, async (name) => {
    const [ours, theirs] = await Promise.all([digest(source, name), digest(target, name)]);
    if (theirs === undefined) found(`image ${name} is missing`);
    else if (ours === undefined) found(`image ${name} is too much`);
    else if (ours !== theirs) found(`image ${name} differs`);
  });
}

async function namesIn(images: ImageStore): Promise<string[]> {
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

async function forEach(
  names: readonly string[],
  step: string,
  progress: Progress,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const queue = names.values();
  let done = 0;
  progress(step, done, names.length);
  const worker = async () => {
    for (const name of queue) {
      await work(name);
      done += 1;
      progress(step, done, names.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
