import t from 'tap';
import { type EntityReference, enqueue } from '../../db/outbox/index.js';
import { samples } from '../../scripts/contract-test/images.js';
import { atOnce, during, openRaces } from '../support/races.js';
import { createPost, PASSWORD } from '../support/service.js';
import type { TestUser } from '../support/users.js';

const { racer, ask, run, everyStores } = await openRaces(t);
const { db } = everyStores[0];

const picture = (kind: 'png' | 'jpeg') => new Blob([samples[kind]], { type: `image/${kind}` });
const deleteAccount = (person: TestUser) =>
  atOnce(() => person.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }));
const isGone = async ({ id, token }: TestUser) => {
  const accounts = await db.selectFrom('accounts').select('id').where('id', '=', id).execute();
  const sessions = await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute();
  const alive = await ask('GET', '/auth/me', { token });
  return accounts.length === 0 && sessions.length === 0 && alive.status === 401;
};

t.test('nothing that is being posted or uploaded outlives its account', async (t) => {
  await run(t, async () => {
    const ada = await racer();
    const { id } = await createPost(ada, { image: picture('png') });
    const create = (more: object) => () =>
      ada.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...more } });
    const deletion = during(
      deleteAccount(ada),
      create({}),
      create({}),
      create({ image: picture('png') }),
      () => ada.send('PUT', `/posts/edit?id=${id}`, { form: { image: picture('jpeg') } }),
      () => ada.send('PUT', '/profiles/me', { form: { image: picture('png') } }),
    );
    t.same(await deletion, [200, 401]);
    t.ok(await isGone(ada));
  });
});

t.test('a post and its account may be deleted at once', async (t) => {
  await run(t, async () => {
    const ada = await racer();
    const written = await Promise.all([1, 2, 3].map(() => createPost(ada, { image: picture('png') })));
    const deletions = written.map(
      ({ id }) =>
        () =>
          ada.send('DELETE', `/posts/delete?id=${id}`),
    );
    t.same(await during(deleteAccount(ada), ...deletions), [200, 401]);
    t.ok(await isGone(ada));
  });
});

t.test('no like outlives who gave it, nor the account that wrote the post', async (t) => {
  const crowd = await Promise.all([1, 2, 3].map(() => racer()));
  const [bob] = crowd as [TestUser];
  const his = await createPost(bob);
  await run(t, async () => {
    const ada = await racer();
    const hers = await createPost(ada);
    const likes = crowd.map((fan) => () => fan.send('POST', `/posts/like?id=${hers.id}`));
    const liking = during(
      deleteAccount(ada),
      ...likes,
      () => ada.send('POST', `/posts/like?id=${his.id}`),
      () => ada.send('POST', `/posts/like?id=${his.id}`),
      () => ada.send('DELETE', `/posts/like?id=${his.id}`),
    );
    t.same(await liking, [200, 401]);
    t.ok(await isGone(ada));
  });
});

t.test('nobody stays tied to an account that is being deleted', async (t) => {
  await run(t, async () => {
    const [ada, bob, eve] = [await racer(), await racer(), await racer()];
    const steps = (one: TestUser, other: TestUser) => [
      () => one.send('POST', `/friends/request?to=${other.id}`),
      () => one.send('POST', `/friends/accept?from=${other.id}`),
      () => one.send('DELETE', `/friends/remove?id=${other.id}`),
    ];
    const tying = during(
      deleteAccount(ada),
      ...steps(ada, bob),
      ...steps(bob, ada),
      () => eve.send('POST', `/friends/request?to=${ada.id}`),
      () => eve.send('POST', `/friends/cancel?to=${ada.id}`),
    );
    t.same(await tying, [200, 401]);
    t.ok(await isGone(ada));
  });
});

t.test('no session outlives its account, nor comes after it', async (t) => {
  await run(t, async (round) => {
    const ada = await racer();
    const login = () => ask('POST', '/auth/login', { json: { email: ada.email, password: PASSWORD } });
    const entering = during(
      deleteAccount(ada),
      login,
      login,
      () => ada.send('PUT', '/profiles/me', { form: { private: String(round % 2 === 0) } }),
      () => ada.send('DELETE', '/auth/sessions'),
    );
    const statuses = await entering;
    t.same(statuses, [200, 401]);
    t.ok(await isGone(ada));
  });
});

t.test('a name that its owner gives up is had by one at a time', async (t) => {
  await run(t, async (round) => {
    const ada = await racer();
    const register = (local: string) => () =>
      ask('POST', '/auth/register', {
        json: { name: 'An Heir', username: ada.username, email: `${local}${round}@heir.example`, password: PASSWORD },
      });
    const [deleted, ...heirs] = await Promise.all([
      ada.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
      register('one')(),
      register('two')(),
    ]);
    t.equal(deleted.status, 200);
    const heir = heirs.filter(({ status }) => status === 201);
    t.same(
      heirs.filter(({ status }) => status !== 409),
      heir,
    );
    const named = await db.selectFrom('accounts').select('id').where('username', '=', ada.username).execute();
    t.same(
      named,
      heir.map(({ body }) => ({ id: body.id })),
    );
  });
});

t.test('deliveries of one thing do not cross', async (t) => {
  const record = (things: EntityReference[]) => db.transaction().execute((trx) => enqueue(trx, things));
  await run(t, async () => {
    const [ada, bob] = [await racer(), await racer()];
    const post = await createPost(bob);
    const things = [{ kind: 'person', key: ada.id } as const, { kind: 'post', key: post.id } as const];
    const entries = await record([...things, ...things, ...things, ...things]);
    const [deleted] = await Promise.all([
      ada.send('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
      bob.send('DELETE', `/posts/delete?id=${post.id}`),
      ...entries.map((entry, index) => everyStores[index % everyStores.length]?.outbox.deliver([entry])),
    ]);
    t.equal(deleted.status, 200);
  });
});
