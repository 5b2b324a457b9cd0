import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { StoresDisagreeError, verifyOrClaim } from '../../db/stores/installation.js';
import type { TestResponse } from '../support/http.js';
import { parseLog } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { picture, startTestService } from '../support/service.js';
import { freshDataDirectory, openTestStores } from '../support/stores.js';
import { until } from '../support/until.js';

// These tests make embedded stores unavailable by renaming their files and directories.
const service = await startTestService(t, { DATA_DIR: await freshDataDirectory(t) });
const { directory } = service.stores;
const withImage = () => ({ form: { title: 'T', text: 'T', image: picture() } });

/** Makes a directory unavailable while `work` runs. */
async function whileUnavailable(path: string, work: () => Promise<void>): Promise<void> {
  await rename(path, `${path}.unavailable`);
  try {
    await work();
  } finally {
    await rename(`${path}.unavailable`, path);
  }
}

function expectUnavailable(t: Test, { status, headers, body }: TestResponse, what: string) {
  t.equal(status, 503, what);
  t.equal(body.code, 'store_unavailable', what);
  t.ok(headers.has('retry-after'), `${what}: has Retry-After`);
}

t.test(
  'without the image store only requests that read or write images return 503, and deleted images are removed later',
  async (t) => {
    const user = await service.createUser();
    const { body: post } = await user.send('POST', '/posts/create', withImage());
    const { body: other } = await user.send('POST', '/posts/create', withImage());
    await whileUnavailable(directory.images, async () => {
      expectUnavailable(t, await user.send('GET', post.image), 'an image');
      expectUnavailable(t, await user.send('POST', '/posts/create', withImage()), 'a post with an image');
      expectUnavailable(t, await user.send('PUT', '/profiles/me', { form: { image: picture() } }), 'a picture');
      t.equal((await user.send('GET', `/posts/${post.id}`)).status, 200);
      t.equal((await user.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status, 201);
      t.equal((await user.send('DELETE', `/posts/delete?id=${post.id}`)).status, 200);
      t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 503);
      const metrics = await scrape(service.opsUrl);
      t.equal(metrics.value('store_available', { store: 'images' }), 0);
      t.equal(metrics.value('store_available', { store: 'graph' }), 1);
    });
    const deletedName = post.image.split('/').at(-1);
    await until(async () => !(await readdir(directory.images)).includes(deletedName));
    const stored = (await readdir(directory.images)).filter((name) => !name.startsWith('.'));
    t.same(stored, [other.image.split('/').at(-1)], 'only the other image is left');
  },
);

t.test('each background job logs its failure once if the data directory disappears', async (t) => {
  const from = service.logged().length;
  const failures = () => parseLog(service.logged().slice(from)).filter(({ level }) => level >= 40);
  await whileUnavailable(directory.root, async () => {
    await until(() => failures().length > 0);
    // Enough for several checks.
    await sleep(1500);
  });
  const messages = failures().map(({ msg }) => msg);
  t.ok(messages.includes('failed to check the free space'));
  t.equal(new Set(messages).size, messages.length, messages.join('\n'));
});

/**
 * Starts a service whose image store is unavailable, because the installation marker is a directory instead of a file. Returns
 * the service, and a function that makes the store available, optionally claimed by another installation.
 */
async function startWithoutImages(t: Test) {
  const DATA_DIR = await freshDataDirectory(t);
  const marker = join(DATA_DIR, 'images', '.installation');
  await rename(marker, `${marker}.unavailable`);
  await mkdir(marker);
  const started = await startTestService(t, { DATA_DIR });
  const restoreImages = async (installation?: string) => {
    if (installation !== undefined) await writeFile(`${marker}.unavailable`, installation);
    await rm(marker, { recursive: true });
    await rename(`${marker}.unavailable`, marker);
  };
  return { started, restoreImages };
}

t.test('starts while the images are unavailable, and serves them once they are back and verified', async (t) => {
  const { started, restoreImages } = await startWithoutImages(t);
  const user = await started.createUser();
  t.equal((await user.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status, 201);
  expectUnavailable(t, await user.send('POST', '/posts/create', withImage()), 'a post with an image');
  const ready = await fetch(`${started.opsUrl}/readyz`);
  t.match(await ready.json(), {
    status: 'unavailable',
    stores: { graph: { ok: true }, images: { ok: false, reason: /^The images store is not available: EISDIR/ } },
  });
  await restoreImages();
  await started.stores.verified;
  t.equal((await user.send('POST', '/posts/create', withImage())).status, 201);
  t.equal((await fetch(`${started.opsUrl}/readyz`)).status, 200);
});

t.test('never uses an image store that another installation has claimed meanwhile', async (t) => {
  const { started, restoreImages } = await startWithoutImages(t);
  const user = await started.createUser();
  await restoreImages('another');
  await t.rejects(started.stores.verified, StoresDisagreeError);
  expectUnavailable(t, await user.send('POST', '/posts/create', withImage()), 'a post with an image');
});

t.test('refuses an image store that another installation claims at the same time', async (t) => {
  const { maintenanceDb, images } = await openTestStores(t, { DATA_DIR: await freshDataDirectory(t) });
  await images.release();
  await maintenanceDb.updateTable('installation').set({ images: null }).execute();
  const claim = () => images.claim('another installation');
  const verified = maintenanceDb.transaction().execute((trx) => verifyOrClaim(trx, 'images', { ...images, claim }));
  await t.rejects(verified, StoresDisagreeError);
});
