import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { diskImages, streamFile } from '../../db/images/disk.js';
import { readChunks } from '../../db/images/small-images.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { listImageNames, openStream, putBytes, testImageStore, writeUpload } from '../support/image-store.js';
import { mountSmallDisk, whyNotMountable } from '../support/stores.js';

/** Creates the directories `images` and `uploads`. Storing an image renames its file from `uploads` to `images`. */
async function createDirectories(root: string) {
  const paths = { images: join(root, 'images'), uploads: join(root, 'uploads') };
  for (const path of Object.values(paths)) await mkdir(path, { recursive: true });
  return paths;
}

t.test('a directory passes the tests of image stores', async (t) => {
  const { images, uploads } = await createDirectories(t.testdir());
  await testImageStore(t, diskImages(images), uploads);
});

t.test('only images are listed', async (t) => {
  const { images, uploads } = await createDirectories(t.testdir());
  const store = diskImages(images);
  const name = await putBytes(store, uploads, randomBytes(10));
  await mkdir(join(images, 'lost+found'));
  await writeFile(join(images, '.nfs0001'), '');
  await store.claim('an-installation');
  t.same(await listImageNames(store), [name]);
});

t.test('every method throws StoreUnavailableError while the directory is missing', async (t) => {
  const { images, uploads } = await createDirectories(t.testdir());
  const store = diskImages(images);
  const bytes = randomBytes(10);
  const name = await putBytes(store, uploads, bytes);
  const calls: [method: string, call: () => Promise<unknown>][] = [
    ['put', () => putBytes(store, uploads, bytes)],
    ['get', () => store.get(name)],
    ['remove', () => store.remove(name)],
    ['list', () => listImageNames(store)],
    ['check', () => store.check()],
    ['claimedBy', () => store.claimedBy()],
    ['claim', () => store.claim('an-installation')],
    ['release', () => store.release()],
  ];
  await rename(images, `${images}.moved`);
  for (const [method, call] of calls) await t.rejects(call(), StoreUnavailableError, method);
  await writeFile(images, 'a file in its place', { mode: 0o700 });
  for (const [method, call] of calls) await t.rejects(call(), StoreUnavailableError, `${method}: a file in its place`);
  await rm(images);
  await rename(`${images}.moved`, images);
  await store.check();
  t.ok(bytes.equals(await buffer(await openStream(store, name))));
  t.equal(await store.claimedBy(), undefined);
});

t.test('a failed read throws StoreUnavailableError and closes the file', async (t) => {
  const directory = await open(t.testdir());
  await t.rejects(buffer(streamFile(directory)), StoreUnavailableError);
  t.equal(directory.fd, -1);
});

t.test('reading a file that has been truncated fails, and returns no uninitialized memory', async (t) => {
  const root = t.testdir({ file: 'bytes' });
  const file = await open(join(root, 'file'));
  t.teardown(() => file.close());
  await t.rejects(readChunks(file, 6), /truncated/);
});

t.test('on a separate file system', { skip: whyNotMountable() }, async (t) => {
  const root = await mountSmallDisk(t, 1);
  const { images, uploads } = await createDirectories(root);
  const store = diskImages(images);
  const bytes = randomBytes(100_000);
  const name = await putBytes(store, uploads, bytes);

  await t.test('a full disk rejects the installation marker, leaves no partial file and loses nothing', async (t) => {
    const filler = join(root, 'filler');
    await writeFile(filler, randomBytes(2_000_000)).catch((error) => t.equal(error.code, 'ENOSPC'));
    await t.rejects(store.claim('an-installation'), StoreUnavailableError);
    t.same(await readdir(images), [name]);
    t.equal(await store.claimedBy(), undefined);
    t.ok(bytes.equals(await buffer(await openStream(store, name))), 'stored images can be read');
    await rm(filler);
    await store.claim('an-installation');
    t.equal(await store.claimedBy(), 'an-installation');
  });

  await t.test('rejects an upload from another file system, and leaves no partial file', async (t) => {
    const elsewhere = await writeUpload('/dev/shm', bytes);
    t.teardown(() => rm(elsewhere, { force: true }));
    t.not((await stat('/dev/shm')).dev, (await stat(images)).dev);
    await t.rejects(store.put('elsewhere.png', elsewhere), StoreUnavailableError);
    t.equal(await store.get('elsewhere.png'), undefined);
  });

  await t.test('a read-only disk fails the check, and can still be read', async (t) => {
    execFileSync('mount', ['-o', 'remount,ro', root]);
    t.teardown(() => execFileSync('mount', ['-o', 'remount,rw', root]));
    await t.rejects(store.check(), StoreUnavailableError);
    await t.rejects(store.remove(name), StoreUnavailableError);
    t.ok(bytes.equals(await buffer(await openStream(store, name))));
  });
});
