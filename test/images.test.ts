import { readdir, readlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import t from 'tap';
import { SMALL_IMAGE_BYTES } from '../db/images/small-images.js';
import { png, samples } from '../scripts/contract-test/client/index.js';
import { pngChunk } from '../scripts/support/png.js';
import { pngBlob } from '../scripts/support/request.js';
import { listImageNames, putBytes } from './support/image-store.js';
import { createPost, picture, startTestService, type TestUser } from './support/service.js';
import { until } from './support/until.js';

/* Images without bytes or references, and open files. The contract tests cover uploads and downloads, and what they leave. */

const MAX_BYTES = 400_000;
const service = await startTestService(t, { UPLOAD_MAX_BYTES: String(MAX_BYTES) });
const { directory, images } = service.stores;

const createWithImage = (user: TestUser) => createPost(user, { image: picture() });

t.test('UPLOAD_MAX_BYTES limits the size of an image', async (t) => {
  const user = await service.createUser();
  for (const [bytes, status] of [
    [MAX_BYTES, 201],
    [MAX_BYTES + 1, 413],
  ] as const) {
    const image = new Blob([samples.png, Buffer.alloc(bytes - samples.png.length)]);
    const form = { title: 'A title', text: 'A text', image };
    t.equal((await user.send('POST', '/posts/create', { form })).status, status);
  }
});

t.test('an image of a post whose author row is missing is visible to every user', async (t) => {
  const [author, reader] = [await service.createUser({ private: true }), await service.createUser()];
  const { image } = await createWithImage(author);
  t.equal((await reader.send('GET', image ?? '')).status, 404);
  await service.stores.db.deleteFrom('accounts').where('id', '=', author.id).execute();
  const { status, bytes } = await reader.send('GET', image ?? '');
  t.equal(status, 200);
  t.ok(bytes.equals(samples.png));
});

t.test('returns 404 for an image whose bytes are lost', async (t) => {
  const user = await service.createUser();
  const { body: profile } = await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  for (const path of [String((await createWithImage(user)).image), profile.profile_link as string]) {
    const tag = String((await user.send('GET', path)).headers.get('etag'));
    await images.remove(path.split('/').at(-1) ?? '');
    t.equal((await user.send('GET', path)).status, 404, path);
    const revalidated = await user.send('GET', path, { headers: { 'If-None-Match': tag } });
    t.equal(revalidated.status, 304, `${path}: the tag is compared without the image store`);
  }
});

/** Returns the names of the images that this process has open. */
async function openImages(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const paths = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(`${directory.images}/`));
}

const skip =
  (images.kind !== 'disk' && 'the images are not files') ||
  (process.platform !== 'linux' && 'only Linux shows the paths of open files');

/** Creates a post with an image that is too large for the cache. Returns the path of the image. */
async function createWithLargeImage(user: TestUser): Promise<string> {
  const image = png(pngChunk('IDAT', Buffer.alloc(SMALL_IMAGE_BYTES)));
  return String((await createPost(user, { image: pngBlob(image) })).image);
}

t.test('an image is closed after its response, also after a response to HEAD', { skip }, async (t) => {
  const user = await service.createUser();
  const path = await createWithLargeImage(user);
  const warnings: string[] = [];
  const listener = ({ message }: Error) => void warnings.push(message);
  process.on('warning', listener);
  t.teardown(() => process.off('warning', listener));
  for (let count = 0; count < 10; count += 1) {
    t.equal((await user.send('HEAD', path)).status, 200);
    t.equal((await user.send('GET', path)).status, 200);
  }
  // Files are closed after the response has been sent.
  await until(async () => (await openImages()).length === 0);
  await new Promise((resolve) => setTimeout(resolve));
  t.same(warnings, [], 'the garbage collector closes no file');
});

t.test('HEAD does not read an image to its end', async (t) => {
  const user = await service.createUser();
  const path = await createWithLargeImage(user);
  const { get } = images;
  let stream: Readable | undefined;
  t.intercept(images, 'get', {
    async value(name: string) {
      const image = await get(name);
      stream = image?.stream;
      return image;
    },
  });
  const { status, headers } = await user.send('HEAD', path);
  t.equal(status, 200);
  t.ok(Number(headers.get('content-length')) > 0);
  t.ok(stream?.destroyed);
  t.notOk(stream?.readableEnded);
});

t.test('does not serve a stored image that no post or profile references', async (t) => {
  const user = await service.createUser();
  const stray = await putBytes(images, directory.uploads, samples.png);
  t.ok((await listImageNames(images)).includes(stray));
  for (const route of ['posts', 'profiles']) {
    t.equal((await user.send('GET', `/${route}/image/${stray}`)).status, 404, route);
  }
});
