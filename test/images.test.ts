import { readdir, readlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import t from 'tap';
import { SMALL_IMAGE_BYTES } from '../db/images/small-images.js';
import { png, samples } from '../scripts/contract-test/client/index.js';
import { pngChunk } from '../scripts/support/png.js';
import { pngBlob } from '../scripts/support/request.js';
import type { HttpOptions } from './support/http.js';
import { listImageNames, putBytes } from './support/image-store.js';
import { picture } from './support/picture.js';
import { createPost, startTestService, type TestUser } from './support/service.js';
import { until } from './support/until.js';

/*
 * Tests when the bytes of images are stored and removed, and what requests for images without bytes or references return.
 * The contract tests cover the responses to uploads and downloads.
 */

const MAX_BYTES = 400_000;
const service = await startTestService(t, { UPLOAD_MAX_BYTES: String(MAX_BYTES) });
const { directory, images } = service.stores;

type Form = NonNullable<HttpOptions['form']>;

const nameOf = (path: string | null) => path?.split('/').at(-1) ?? '';

const createWithImage = (user: TestUser) => createPost(user, { image: picture() });
const edit = (user: TestUser, id: number, form: Form) => user.send('PUT', `/posts/edit?id=${id}`, { form });

async function updatePicture(user: TestUser, form: Form = { image: picture() }): Promise<string> {
  return (await user.send('PUT', '/profiles/me', { form })).body.profile_link;
}

async function readStored() {
  return { images: await listImageNames(images), uploads: await readdir(directory.uploads) };
}

t.test('a rejected form stores no bytes and changes no post', async (t) => {
  const [author, stranger] = [await service.createUser(), await service.createUser()];
  const post = await createWithImage(author);
  const texts = { title: 'Another title', text: 'Another text' };
  const image = picture();
  const sized = (bytes: number) => new Blob([samples.png, Buffer.alloc(bytes)]);
  const refused: [what: string, status: number, form: Form][] = [
    ['an unknown field after the image', 400, { ...texts, image, tags: 'x' }],
    ['a blank title after the image', 400, { image, title: ' ', text: 'A text' }],
    [
      'an image of another type than declared',
      400,
      { ...texts, image: new Blob([samples.gif], { type: 'image/png' }) },
    ],
    ['an image over the limit', 413, { ...texts, image: sized(MAX_BYTES) }],
    ['a form over the limit', 413, { ...texts, image, tags: 'x'.repeat(MAX_BYTES + 300 * 1024) }],
  ];
  const before = await readStored();
  for (const [what, status, form] of refused) {
    t.equal((await author.send('POST', '/posts/create', { form })).status, status, `create: ${what}`);
    t.equal((await edit(author, post.id, form)).status, status, `edit: ${what}`);
  }
  t.equal((await edit(author, post.id, { image, remove_image: 'true' })).status, 400, 'an image and its removal');
  t.equal((await edit(stranger, post.id, { image })).status, 404, 'an edit by another user');
  t.strictSame((await author.send('GET', '/posts/me')).body, [post]);
  t.strictSame(await readStored(), before);
});

t.test('an image is deleted from the store when it is replaced or removed, or its post is deleted', async (t) => {
  const author = await service.createUser();
  const kept = await createWithImage(author);
  const [replaced, removed] = [await createWithImage(author), await createWithImage(author)];
  const deleted = await createWithImage(author);
  const [firstPicture, secondPicture] = [await updatePicture(author), await updatePicture(author)];
  const replacement = (await edit(author, replaced.id, { image: picture('jpeg') })).body.image;
  await edit(author, removed.id, { remove_image: 'true' });
  await author.send('DELETE', `/posts/delete?id=${deleted.id}`);
  await updatePicture(author, { remove_image: 'true' });
  const removedNames = [replaced.image, removed.image, deleted.image, firstPicture, secondPicture].map(nameOf);
  await until(async () => !(await readStored()).images.some((name) => removedNames.includes(name)));
  const { images, uploads } = await readStored();
  for (const path of [kept.image, replacement]) {
    t.ok(images.includes(nameOf(path)), 'other images stay');
    t.equal((await author.send('GET', path)).status, 200);
  }
  t.same(uploads, []);
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
  for (const path of [String((await createWithImage(user)).image), await updatePicture(user)]) {
    const tag = String((await user.send('GET', path)).headers.get('etag'));
    await images.remove(nameOf(path));
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
