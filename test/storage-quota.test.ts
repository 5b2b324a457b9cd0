import t from 'tap';
import { SECRET, samples, png as withMetadata } from '../scripts/contract-test/client/index.js';
import { pngChunk } from '../scripts/support/png.js';
import type { TestResponse } from './support/http.js';
import { listImageNames } from './support/image-store.js';
import { scrape } from './support/prometheus.js';
import { picture, startTestService, type TestUser } from './support/service.js';

const PNG_BYTES = samples.png.length;

/** The quota is exactly three images. */
const service = await startTestService(t, { ACCOUNT_STORAGE_MAX_BYTES: String(3 * PNG_BYTES) });
const { stores } = service;
const small = () => picture('gif');

const create = (author: TestUser, image: Blob, headers = {}) =>
  author.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', image }, headers });
const edit = (author: TestUser, id: number, form: Record<string, string | Blob>) =>
  author.send('PUT', `/posts/edit?id=${id}`, { form });
const updateProfile = (user: TestUser, form: Record<string, string | Blob>) =>
  user.send('PUT', '/profiles/me', { form });

const storedBytes = async ({ id }: TestUser) =>
  (await stores.db.selectFrom('accounts').select('stored_bytes').where('id', '=', id).executeTakeFirst())?.stored_bytes;

/** Creates a user whose profile picture and two posts with images use up the quota. */
async function createFullAccount() {
  const user = await service.createUser();
  const posts = [(await create(user, picture())).body, (await create(user, picture())).body];
  await updateProfile(user, { image: picture() });
  return { user, posts };
}

t.test('returns 413 for an image over the quota on every route, and stores or changes nothing', async (t) => {
  const { user, posts } = await createFullAccount();
  const plain = (await user.send('POST', '/posts/create', { form: { title: 'No image', text: 'fits' } })).body;
  t.ok(plain.id, 'a post without an image is always possible');
  const before = await listImageNames(stores.images);
  const countRefusals = async () => (await scrape(service.opsUrl)).value('quota_refusals_total', { quota: 'storage' });
  t.equal(await countRefusals(), 0);
  const expectRefused = ({ status, body }: TestResponse, what: string) => {
    t.equal(status, 413, what);
    t.match(body, { code: 'storage_quota_exceeded', message: /storage quota of your account/ });
  };
  expectRefused(await create(user, small()), 'creation');
  expectRefused(await edit(user, plain.id, { title: 'Changed', image: small() }), 'edit');
  await edit(user, posts[0].id, { remove_image: 'true' });
  await create(user, picture());
  await updateProfile(user, { remove_image: 'true' });
  await create(user, picture());
  expectRefused(await updateProfile(user, { name: 'Changed', image: small() }), 'profile update');
  t.equal((await user.send('GET', '/profiles/me')).body.name, user.name);
  t.equal((await user.send('GET', `/posts/${plain.id}`)).body.title, 'No image');
  t.equal((await listImageNames(stores.images)).length, before.length);
  t.equal(await storedBytes(user), 3 * PNG_BYTES);
  t.equal(await countRefusals(), 3);
});

t.test('a replacement counts the difference; removal and deletion free bytes', async (t) => {
  const { user, posts } = await createFullAccount();
  t.equal((await edit(user, posts[0].id, { image: picture() })).status, 200, 'an image of the same size');
  t.equal((await updateProfile(user, { image: picture() })).status, 200, 'a profile picture of the same size');
  t.equal((await edit(user, posts[0].id, { image: small() })).status, 200);
  t.equal((await updateProfile(user, { image: small() })).status, 200);
  t.equal(await storedBytes(user), PNG_BYTES + 2 * samples.gif.length);
  await edit(user, posts[0].id, { title: 'The image stays' });
  t.equal(await storedBytes(user), PNG_BYTES + 2 * samples.gif.length);
  await edit(user, posts[0].id, { remove_image: 'true' });
  await user.send('DELETE', `/posts/delete?id=${posts[1].id}`);
  t.equal(await storedBytes(user), samples.gif.length);
  await updateProfile(user, { remove_image: 'true' });
  t.equal(await storedBytes(user), 0);
});

t.test('metadata that is removed from an image does not count', async (t) => {
  const user = await service.createUser();
  const image = new Blob([withMetadata(pngChunk('tEXt', SECRET))], { type: 'image/png' });
  const { body } = await create(user, image);
  const { bytes } = await user.send('GET', body.image);
  t.ok(bytes.equals(samples.png), 'the metadata is removed');
  t.equal(await storedBytes(user), PNG_BYTES);
});

t.test('an image may be replaced by a smaller one although the account exceeds a lowered quota', async (t) => {
  const { user, posts } = await createFullAccount();
  const stored_bytes = 10 * PNG_BYTES;
  await stores.db.updateTable('accounts').set({ stored_bytes }).where('id', '=', user.id).execute();
  t.equal((await edit(user, posts[0].id, { image: small() })).status, 200);
  t.equal((await create(user, small())).status, 413);
});

t.test('concurrent uploads do not exceed the quota', async (t) => {
  const user = await service.createUser();
  const { id } = (await user.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).body;
  const uploads = [
    ...Array.from({ length: 8 }, () => create(user, picture())),
    edit(user, id, { image: picture() }),
    updateProfile(user, { image: picture() }),
  ];
  const statuses = (await Promise.all(uploads)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status < 300).length, 3);
  t.equal(statuses.filter((status) => status === 413).length, uploads.length - 3);
  t.equal(await storedBytes(user), 3 * PNG_BYTES);
});

t.test('a retry with an idempotency key does not count again, even if the quota is used up', async (t) => {
  const user = await service.createUser();
  const headers = { 'Idempotency-Key': 'k' };
  const first = await create(user, picture(), headers);
  await create(user, picture());
  await create(user, picture());
  t.equal((await create(user, picture(), { 'Idempotency-Key': 'other' })).status, 413);
  const retry = await create(user, picture(), headers);
  t.same([retry.status, retry.body], [201, first.body]);
  t.equal(await storedBytes(user), 3 * PNG_BYTES);
});
