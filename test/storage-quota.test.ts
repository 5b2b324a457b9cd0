import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { storedImages } from './support/contents.js';
import { Exposition } from './support/prometheus.js';
import type { TestResponse } from './support/requests.js';
import { type Person, startTestService } from './support/service.js';

const SIZE = samples.png.length;

/** Three images fit, and not a byte more. */
const service = await startTestService(t, { ACCOUNT_STORAGE_MAX_BYTES: String(3 * SIZE) });
const { stores } = service;

const png = () => new Blob([samples.png], { type: 'image/png' });
const small = () => new Blob([samples.gif], { type: 'image/gif' });

const create = (author: Person, image: Blob, headers = {}) =>
  author.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', image }, headers });
const edit = (author: Person, id: number, form: Record<string, string | Blob>) =>
  author.send('PUT', `/posts/edit?id=${id}`, { form });
const updateProfile = (person: Person, form: Record<string, string | Blob>) =>
  person.send('PUT', '/profiles/me', { form });

const storedBytes = async ({ id }: Person) =>
  (await stores.db.selectFrom('accounts').select('stored_bytes').where('id', '=', id).executeTakeFirst())?.stored_bytes;

/** Someone with two posts with an image each and a picture, which use up the quota. */
async function fullAccount() {
  const person = await service.createUser();
  const posts = [(await create(person, png())).body, (await create(person, png())).body];
  await updateProfile(person, { image: png() });
  return { person, posts };
}

t.test('an image beyond the quota returns 413 on every route, and nothing is stored or changed', async (t) => {
  const { person, posts } = await fullAccount();
  const plain = (await person.send('POST', '/posts/create', { form: { title: 'No image', text: 'fits' } })).body;
  t.ok(plain.id, 'a post without an image is always possible');
  const before = await storedImages(stores);
  const refused: TestResponse[] = [
    await create(person, small()),
    await edit(person, plain.id, { title: 'Changed', image: small() }),
  ];
  for (const { status, body } of refused) {
    t.equal(status, 413);
    t.match(body, { message: /storage quota of your account/ });
  }
  await edit(person, posts[0].id, { remove_image: 'true' });
  await create(person, png());
  await updateProfile(person, { remove_image: 'true' });
  await create(person, png());
  t.equal((await updateProfile(person, { name: 'Changed', image: small() })).status, 413, 'a picture counts too');
  t.equal((await person.send('GET', '/profiles/me')).body.name, person.name);
  t.equal((await person.send('GET', `/posts/${plain.id}`)).body.title, 'No image');
  t.equal((await storedImages(stores)).length, before.length);
  t.equal(await storedBytes(person), 3 * SIZE);
});

t.test('a replacement counts the difference; removal and deletion free the bytes', async (t) => {
  const { person, posts } = await fullAccount();
  t.equal((await edit(person, posts[0].id, { image: png() })).status, 200, 'of the same size');
  t.equal((await edit(person, posts[0].id, { image: small() })).status, 200);
  t.equal((await updateProfile(person, { image: small() })).status, 200);
  t.equal(await storedBytes(person), SIZE + 2 * samples.gif.length);
  await edit(person, posts[0].id, { title: 'The image stays' });
  t.equal(await storedBytes(person), SIZE + 2 * samples.gif.length);
  await edit(person, posts[0].id, { remove_image: 'true' });
  await person.send('DELETE', `/posts/delete?id=${posts[1].id}`);
  t.equal(await storedBytes(person), samples.gif.length);
  await updateProfile(person, { remove_image: 'true' });
  t.equal(await storedBytes(person), 0);
});

t.test('an image may be replaced by a smaller one also above a quota that was lowered', async (t) => {
  const { person, posts } = await fullAccount();
  await stores.db
    .updateTable('accounts')
    .set({ stored_bytes: 10 * SIZE })
    .where('id', '=', person.id)
    .execute();
  t.equal((await edit(person, posts[0].id, { image: small() })).status, 200);
  t.equal((await create(person, small())).status, 413);
});

t.test('uploads at the same time do not exceed the quota together', async (t) => {
  const person = await service.createUser();
  const { id } = (await person.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).body;
  const uploads = [
    ...Array.from({ length: 8 }, () => create(person, png())),
    edit(person, id, { image: png() }),
    updateProfile(person, { image: png() }),
  ];
  const statuses = (await Promise.all(uploads)).map(({ status }) => status);
  t.equal(statuses.filter((status) => status < 300).length, 3);
  t.equal(statuses.filter((status) => status === 413).length, uploads.length - 3);
  t.equal(await storedBytes(person), 3 * SIZE);
});

t.test('a retry with an idempotency key does not count again, not even when the quota is used up', async (t) => {
  const person = await service.createUser();
  const headers = { 'Idempotency-Key': 'k' };
  const first = await create(person, png(), headers);
  await create(person, png());
  await create(person, png());
  t.equal((await create(person, png(), { 'Idempotency-Key': 'other' })).status, 413);
  const retry = await create(person, png(), headers);
  t.same([retry.status, retry.body], [201, first.body]);
  t.equal(await storedBytes(person), 3 * SIZE);
});

t.test('refusals are counted for operators', async (t) => {
  const read = async () => new Exposition(await (await fetch(`${service.opsUrl}/metrics`)).text());
  const before = (await read()).value('quota_refusals_total', { quota: 'storage' }) ?? 0;
  const { person } = await fullAccount();
  await create(person, small());
  t.equal((await read()).value('quota_refusals_total', { quota: 'storage' }), before + 1);
});
