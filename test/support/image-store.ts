import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { ImageStore } from '../../db/images/index.js';
import { StoreUnavailableError } from '../../db/support/errors.js';

export const newImageName = () => `${randomBytes(16).toString('hex')}.png`;

/** Writes a file that can be put into an image store, and returns its path. */
export async function writeUpload(directory: string, bytes: Uint8Array): Promise<string> {
  const path = join(directory, randomBytes(8).toString('hex'));
  await writeFile(path, bytes);
  return path;
}

/** Stores bytes under a new name, and returns the name. */
export async function putBytes(images: ImageStore, uploads: string, bytes: Uint8Array): Promise<string> {
  const name = newImageName();
  await images.put(name, await writeUpload(uploads, bytes));
  return name;
}

/** Returns the stream of an image. Throws if it does not exist. */
export async function openStream(images: ImageStore, name: string): Promise<Readable> {
  const image = await images.get(name);
  if (!image) throw new Error(`${name} does not exist`);
  return image.stream;
}

/** Returns the names of all stored images, sorted. */
export async function listImageNames(images: ImageStore): Promise<string[]> {
  const names: string[] = [];
  for await (const name of images.list()) names.push(name);
  return names.sort();
}

/** Runs the tests that every image store must pass. The store must be empty and unclaimed. */
export async function testImageStore(t: Test, images: ImageStore, uploads: string): Promise<void> {
  const put = (bytes: Uint8Array) => putBytes(images, uploads, bytes);

  await t.test('returns the stored bytes and their size', async (t) => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 1024 * 1024, 5 * 1024 * 1024]) {
      const bytes = randomBytes(size);
      const image = await images.get(await put(bytes));
      t.equal(image?.size, size);
      t.ok(image && bytes.equals(await buffer(image.stream)), `${size} bytes`);
    }
  });

  await t.test('does not mix concurrent uploads', async (t) => {
    const all = Array.from({ length: 50 }, () => randomBytes(100_000));
    const stored = await Promise.all(all.map(async (bytes) => buffer(await openStream(images, await put(bytes)))));
    t.ok(stored.every((bytes, index) => all[index]?.equals(bytes)));
  });

  await t.test('removes an image, and removing it again has no effect', async (t) => {
    const name = await put(randomBytes(10));
    // A store with a cache now has it in memory.
    await buffer(await openStream(images, name));
    await images.remove(name);
    await images.remove(name);
    t.equal(await images.get(name), undefined);
  });

  await t.test('rejects an upload whose file is missing, and stores nothing', async (t) => {
    const name = newImageName();
    await t.rejects(images.put(name, join(uploads, 'nowhere')), StoreUnavailableError);
    t.equal(await images.get(name), undefined);
    await images.check();
  });

  await t.test('stores, changes and releases the installation marker, which is not listed as an image', async (t) => {
    const before = await listImageNames(images);
    t.equal(await images.claimedBy(), undefined);
    await Promise.all(['one', 'one', 'one'].map((installation) => images.claim(installation)));
    t.equal(await images.claimedBy(), 'one');
    await images.claim('another');
    t.equal(await images.claimedBy(), 'another');
    for (let times = 0; times < 2; times += 1) await images.release();
    t.equal(await images.claimedBy(), undefined);
    t.same(await listImageNames(images), before);
  });

  await t.test('lists every name once', async (t) => {
    const before = await listImageNames(images);
    const added: string[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let count = 0; count < 55; count += 1) added.push(await put(randomBytes(1)));
      }),
    );
    t.same(await listImageNames(images), [...before, ...added].sort());
    const [first] = added;
    // An iteration that ends early must not affect later calls.
    for await (const name of images.list()) {
      t.ok(name);
      break;
    }
    await images.remove(first ?? '');
    t.notOk((await listImageNames(images)).includes(first ?? ''));
  });
}
