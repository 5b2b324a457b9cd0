import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { withCache } from '../../db/images/cache.js';
import { diskImages } from '../../db/images/disk.js';
import { SMALL_IMAGE_BYTES } from '../../db/images/small-images.js';
import { putBytes, testImageStore } from '../support/image-store.js';

/** Creates an image directory, and a store that reads it through a cache. */
async function createStore(t: Test, maxCachedBytes?: number) {
  const directory = t.testdir();
  const [images, uploads] = [join(directory, 'images'), join(directory, 'uploads')];
  for (const path of [images, uploads]) await mkdir(path);
  const store = withCache(diskImages(images), maxCachedBytes);
  return {
    store,
    uploads,
    /** Stores an image, reads it, and removes its file. Returns a function that reads it again. */
    async readAndLose(bytes: Buffer) {
      const name = await putBytes(store, uploads, bytes);
      await read(name);
      await rm(join(images, name));
      return () => read(name);
    },
  };

  async function read(name: string): Promise<Buffer | undefined> {
    const image = await store.get(name);
    return image && buffer(image.stream);
  }
}

t.test('a store with a cache passes the tests of image stores', async (t) => {
  const { store, uploads } = await createStore(t);
  await testImageStore(t, store, uploads);
});

t.test('only small images are served from memory', async (t) => {
  const { readAndLose } = await createStore(t);
  const small = randomBytes(SMALL_IMAGE_BYTES);
  const readSmall = await readAndLose(small);
  for (const time of ['first', 'second']) t.ok((await readSmall())?.equals(small), time);
  const readLarge = await readAndLose(randomBytes(SMALL_IMAGE_BYTES + 1));
  t.equal(await readLarge(), undefined);
});

t.test('the least recently used images are evicted', async (t) => {
  const { readAndLose } = await createStore(t, 35_000);
  const reads = [];
  for (let count = 0; count < 4; count += 1) reads.push(await readAndLose(randomBytes(10_000)));
  t.same(await Promise.all(reads.map(async (read) => (await read())?.length)), [undefined, 10_000, 10_000, 10_000]);
});
