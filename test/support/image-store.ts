import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { ImageStore } from '../../db/images/index.js';
import { StoreUnavailableError } from '../../db/support/errors.js';

const imageName = () => `${randomBytes(16).toString('hex')}.png`;

/** A file to be taken in, in a directory that the test gives. */
export async function spooled(directory: string, bytes: Uint8Array): Promise<string> {
  const path = join(directory, randomBytes(8).toString('hex'));
  await writeFile(path, bytes);
  return path;
}

/** Takes bytes in under a new name, and answers that. */
export async function putBytes(images: ImageStore, uploads: string, bytes: Uint8Array): Promise<string> {
  const name = imageName();
  await images.put(name, await spooled(uploads, bytes));
  return name;
}

/** The stream of an image that has to be there. */
export async function streamOf(images: ImageStore, name: string): Promise<Readable> {
  const image = await images.get(name);
  if (!image) throw new Error(`${name} is not there`);
  return image.stream;
}

export async function namesIn(images: ImageStore): Promise<string[]> {
  const names: string[] = [];
  for await (const name of images.list()) names.push(name);
  return names.sort();
}

/** What every image store does, whichever it is. It has to be empty, and unmarked. */
export async function testImageStore(t: Test, images: ImageStore, uploads: string): Promise<void> {
  const put = (bytes: Uint8Array) => putBytes(images, uploads, bytes);

  await t.test('gives back byte for byte what it has taken in, and says how much that is', async (t) => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 1024 * 1024, 5 * 1024 * 1024]) {
      const bytes = randomBytes(size);
      const image = await images.get(await put(bytes));
      t.equal(image?.size, size);
      t.ok(image && bytes.equals(await buffer(image.stream)), `${size} bytes`);
    }
  });

  await t.test('many at once stay apart', async (t) => {
    const all = Array.from({ length: 50 }, () => randomBytes(100_000));
    const back = await Promise.all(all.map(async (bytes) => buffer(await streamOf(images, await put(bytes)))));
    t.ok(back.every((bytes, index) => all[index]?.equals(bytes)));
  });

  await t.test('what is absent is undefined, and can be removed', async (t) => {
    t.equal(await images.get(imageName()), undefined);
    await images.remove(imageName());
  });

  await t.test('what is removed is gone, also when it is removed twice', async (t) => {
    const name = await put(randomBytes(10));
    await images.remove(name);
    await images.remove(name);
    t.equal(await images.get(name), undefined);
  });

  await t.test('an upload whose file is gone is refused, and leaves nothing', async (t) => {
    const name = imageName();
    await t.rejects(images.put(name, join(uploads, 'nowhere')), StoreUnavailableError);
    t.equal(await images.get(name), undefined);
    await images.check();
  });

  await t.test('the mark is kept, can be changed, and is no image', async (t) => {
    const before = await namesIn(images);
    t.equal(await images.claimedBy(), undefined);
    await Promise.all(['one', 'one', 'one'].map((installation) => images.claim(installation)));
    t.equal(await images.claimedBy(), 'one');
    await images.claim('another');
    t.equal(await images.claimedBy(), 'another');
    for (let times = 0; times < 2; times += 1) await images.release();
    t.equal(await images.claimedBy(), undefined);
    t.same(await namesIn(images), before);
  });

  await t.test('lists every name once, however many there are', async (t) => {
    const before = await namesIn(images);
    const added: string[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let left = 55; left > 0; left -= 1) added.push(await put(randomBytes(1)));
      }),
    );
    t.same(await namesIn(images), [...before, ...added].sort());
    const [first] = added;
    for await (const name of images.list()) {
      t.ok(name);
      break;
    }
    await images.remove(first ?? '');
    t.notOk((await namesIn(images)).includes(first ?? ''));
  });
}
