import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { StoresDisagreeError } from '../../db/installation.js';
import { samples } from '../../scripts/contract-test/images.js';
import { startTestService } from '../support/service.js';
import { freshDataDirectory } from '../support/stores.js';

// A directory is what these tests take away.
const service = await startTestService(t, { DATA_DIR: await freshDataDirectory(t) });
const { directory } = service.stores;

const image = () => new Blob([samples.png], { type: 'image/png' });
const withImage = () => ({ form: { title: 'T', text: 'T', image: image() } });

/** Takes a directory away while `during` runs. */
async function without(path: string, during: () => Promise<void>): Promise<void> {
  await rename(path, `${path}.away`);
  try {
    await during();
  } finally {
    await rename(`${path}.away`, path);
  }
}

function unavailable(t: Test, { status, headers }: { status: number; headers: Headers }, what: string) {
  t.equal(status, 503, what);
  t.ok(headers.has('retry-after'), `${what}: says when to try again`);
}

t.test('images away: what needs bytes is 503, the rest goes on, and a deletion catches up', async (t) => {
  const ada = await service.createUser();
  const { body: post } = await ada.send('POST', '/posts/create', withImage());
  const { body: other } = await ada.send('POST', '/posts/create', withImage());
  await without(directory.images, async () => {
    unavailable(t, await ada.send('GET', post.image), 'an image');
    unavailable(t, await ada.send('POST', '/posts/create', withImage()), 'a post with an image');
    unavailable(t, await ada.send('PUT', '/profiles/me', { form: { image: image() } }), 'a picture');
    t.equal((await ada.send('GET', `/posts/${post.id}`)).status, 200);
    t.equal((await ada.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status, 201);
    t.equal((await ada.send('DELETE', `/posts/delete?id=${post.id}`)).status, 200);
    t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 503);
  });
  const gone = post.image.split('/').at(-1);
  while ((await readdir(directory.images)).includes(gone)) await new Promise((resolve) => setTimeout(resolve, 50));
  t.same(
    (await readdir(directory.images)).filter((name) => !name.startsWith('.')),
    [other.image.split('/').at(-1)],
    'and nothing else is left or lost',
  );
});

t.test('no room for uploads: 503, and nothing is stored', async (t) => {
  const ada = await service.createUser();
  await without(directory.uploads, async () => {
    unavailable(t, await ada.send('POST', '/posts/create', withImage()), 'a post with an image');
  });
  t.same((await ada.send('GET', '/posts/me')).body, []);
});

/** A service that is started while its images cannot be read, and how they come back. */
async function startWithoutImages(t: Test) {
  const DATA_DIR = await freshDataDirectory(t);
  const mark = join(DATA_DIR, 'images', '.installation');
  await rename(mark, `${mark}.away`);
  await mkdir(mark);
  const started = await startTestService(t, { DATA_DIR });
  const returnWith = async (installation?: string) => {
    if (installation !== undefined) await writeFile(`${mark}.away`, installation);
    await rm(mark, { recursive: true });
    await rename(`${mark}.away`, mark);
  };
  return { started, returnWith };
}

t.test('starts while the images are unavailable, and serves them once they are back and verified', async (t) => {
  const { started, returnWith } = await startWithoutImages(t);
  const ada = await started.createUser();
  t.equal((await ada.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status, 201);
  unavailable(t, await ada.send('POST', '/posts/create', withImage()), 'a post with an image');
  const ready = await fetch(`${started.opsUrl}/readyz`);
  t.match(await ready.json(), { status: 'unavailable', stores: { graph: { ok: true }, images: { ok: false } } });
  await returnWith();
  await started.stores.verified;
  t.equal((await ada.send('POST', '/posts/create', withImage())).status, 201);
  t.equal((await fetch(`${started.opsUrl}/readyz`)).status, 200);
});

t.test('never uses images that return as those of another installation', async (t) => {
  const { started, returnWith } = await startWithoutImages(t);
  const ada = await started.createUser();
  await returnWith('another');
  await t.rejects(started.stores.verified, StoresDisagreeError);
  unavailable(t, await ada.send('POST', '/posts/create', withImage()), 'a post with an image');
});
