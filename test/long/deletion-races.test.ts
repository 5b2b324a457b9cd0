import t, { type Test } from 'tap';
import { type EntityReference, enqueue } from '../../db/outbox/index.js';
import { picture } from '../support/picture.js';
import { openRaces, repeatUntilSettled, sendTwiceConcurrently } from '../support/races.js';
import { createPost, PASSWORD } from '../support/service.js';
import type { TestUser } from '../support/users.js';

const { createUser, send, run, services } = await openRaces(t);
const { db } = services[0].stores;

const deleteAccount = (user: TestUser) => user.send('DELETE', '/profiles/me', { json: { password: PASSWORD } });

/**
 * Sends two deletions of an account, and repeats each of the other requests until both have completed. Expects one of the
 * deletions to succeed, and nothing to remain. `Races.run` then checks that the stores are consistent.
 */
async function deleteDuring(t: Test, user: TestUser, ...requests: (() => Promise<unknown>)[]): Promise<void> {
  const deletions = sendTwiceConcurrently(() => deleteAccount(user));
  t.same(await repeatUntilSettled(deletions, ...requests), [200, 401]);
  const { id, token } = user;
  t.same(await db.selectFrom('accounts').select('id').where('id', '=', id).execute(), []);
  t.same(await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute(), []);
  t.equal((await send('GET', '/auth/me', { token })).status, 401);
}

t.test('no concurrent post or upload outlives its account', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada, { image: picture('png') });
    const create = (more: object) => () =>
      ada.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...more } });
    await deleteDuring(
      t,
      ada,
      create({}),
      create({}),
      create({ image: picture('png') }),
      () => ada.send('PUT', `/posts/edit?id=${id}`, { form: { image: picture('jpeg') } }),
      () => ada.send('PUT', '/profiles/me', { form: { image: picture('png') } }),
    );
  });
});

t.test('a post and its account can be deleted concurrently', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const written = await Promise.all([1, 2, 3].map(() => createPost(ada, { image: picture('png') })));
    const deletePost = ({ id }: { id: number }) => ada.send('DELETE', `/posts/delete?id=${id}`);
    await deleteDuring(t, ada, ...written.map((post) => () => deletePost(post)));
  });
});

t.test('no session of a deleted account exists', async (t) => {
  await run(t, async (round) => {
    const ada = await createUser();
    const login = () => send('POST', '/auth/login', { json: { email: ada.email, password: PASSWORD } });
    await deleteDuring(
      t,
      ada,
      login,
      login,
      () => ada.send('PUT', '/profiles/me', { form: { private: String(round % 2 === 0) } }),
      () => ada.send('DELETE', '/auth/sessions'),
    );
  });
});

t.test('concurrent deliveries of one entity do not conflict', async (t) => {
  const record = (entities: EntityReference[]) => db.transaction().execute((trx) => enqueue(trx, entities));
  await run(t, async () => {
    const [ada, bob] = [await createUser(), await createUser()];
    const post = await createPost(bob);
    const entities = [{ kind: 'person', key: ada.id } as const, { kind: 'post', key: post.id } as const];
    const entries = await record([...entities, ...entities, ...entities, ...entities]);
    const [deleted] = await Promise.all([
      deleteAccount(ada),
      bob.send('DELETE', `/posts/delete?id=${post.id}`),
      ...entries.map((entry, index) => services[index % services.length]?.stores.outbox.deliver([entry])),
    ]);
    t.equal(deleted.status, 200);
  });
});
