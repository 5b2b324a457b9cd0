import { sql } from 'kysely';
import t from 'tap';
import { tryLock } from '../db/postgres/locks.js';
import type { HttpOptions } from './support/http.js';
import { listImageNames } from './support/image-store.js';
import { picture, startTestService, type TestUser } from './support/service.js';
import { needsServers } from './support/stores.js';

const service = await startTestService(t);
const { stores } = service;

const FORM = { title: 'A title', text: 'A text' };
const FORM_WITH_IMAGE = { ...FORM, image: picture() };

const create = (author: TestUser, key: string, form: HttpOptions['form'] = FORM) =>
  author.send('POST', '/posts/create', { form, headers: { 'Idempotency-Key': key } });

t.test('concurrent requests, retries and other forms with the same key store one image', async (t) => {
  const user = await service.createUser();
  const before = await listImageNames(stores.images);
  await Promise.all(Array.from({ length: 12 }, () => create(user, 'k', FORM_WITH_IMAGE)));
  t.equal((await create(user, 'k', FORM_WITH_IMAGE)).status, 201);
  t.equal((await create(user, 'k', { ...FORM_WITH_IMAGE, title: 'Another title' })).status, 422);
  t.equal((await listImageNames(stores.images)).length, before.length + 1);
});

t.test('a key expires after 24 hours, even before it is purged', async (t) => {
  const user = await service.createUser();
  const first = await create(user, 'k');
  const age = (interval: string) =>
    sql`update idempotency_keys set created_at = created_at - ${interval}::interval where account_id = ${user.id}`.execute(
      stores.db,
    );
  await age('23 hours 59 minutes');
  t.equal((await create(user, 'k')).body.id, first.body.id);
  await age('1 minute');
  const second = await create(user, 'k', { ...FORM, title: 'Another title' });
  t.equal(second.status, 201);
  t.not(second.body.id, first.body.id);
  t.equal((await create(user, 'k', { ...FORM, title: 'Another title' })).body.id, second.body.id);
});

t.test('returns 409 while a request with the same key is in progress', needsServers, async (t) => {
  const user = await service.createUser();
  // The transaction that creates the post holds this lock, which does not outlive a crash.
  await stores.db.transaction().execute(async (trx) => {
    t.ok(await tryLock(trx, `${user.id} k`));
    t.equal((await create(user, 'k')).status, 409);
    t.equal((await create(user, 'k', FORM_WITH_IMAGE)).status, 409);
    t.equal((await create(user, 'other')).status, 201, 'other keys are free');
  });
  t.equal((await create(user, 'k')).status, 201);
});
