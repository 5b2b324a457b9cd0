import { readdir, rename } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { startTestService } from './harness.js';
import { freshDataDirectory } from './stores.js';

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
  const ada = await service.person();
  const { body: post } = await ada.ask('POST', '/posts/create', withImage());
  const { body: other } = await ada.ask('POST', '/posts/create', withImage());
  await without(directory.images, async () => {
    unavailable(t, await ada.ask('GET', post.image), 'an image');
    unavailable(t, await ada.ask('POST', '/posts/create', withImage()), 'a post with an image');
    unavailable(t, await ada.ask('PUT', '/profiles/me', { form: { image: image() } }), 'a picture');
    t.equal((await ada.ask('GET', `/posts/${post.id}`)).status, 200);
    t.equal((await ada.ask('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status, 201);
    t.equal((await ada.ask('DELETE', `/posts/delete?id=${post.id}`)).status, 200);
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
  const ada = await service.person();
  await without(directory.uploads, async () => {
    unavailable(t, await ada.ask('POST', '/posts/create', withImage()), 'a post with an image');
  });
  t.same((await ada.ask('GET', '/posts/me')).body, []);
});
