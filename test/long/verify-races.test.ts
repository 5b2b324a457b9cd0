import t, { type Test } from 'tap';
import { deletePosts } from '../../db/post-writes.js';
import type { Stores } from '../../db/stores/index.js';
import { repeatUntilSettled } from '../support/races.js';
import { befriend, createPost, PASSWORD, picture, startTestService, type TestUser } from '../support/service.js';
import {
  createFixtures,
  emptyStores,
  findDifferences,
  needsNodes,
  openStoresWithoutRelay,
  repairStores,
  repeat,
} from '../support/store-fixtures.js';

t.test('accepts changes between two reads', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { db, graph, images, outbox } = stores;
  const { account, accountWithoutNode, post, postWithImage, deleteAccount } = createFixtures(stores);
  const [ada, ben] = [await account(), await account()];
  const kept = await postWithImage(ada);

  /** Returns a function that runs an action on its first call, and waits for it on every call. */
  const once = (action: () => Promise<unknown>) => {
    let running: Promise<unknown> | undefined;
    return () => {
      running ??= action();
      return running;
    };
  };
  /** Wraps a function that reads a page of ids, so that an action runs after its first call. */
  const followedBy = (read: typeof graph.bulk.personIds, action: () => Promise<unknown>): typeof read => {
    const runOnce = once(action);
    return async (...page) => {
      const ids = await read(...page);
      await runOnce();
      return ids;
    };
  };
  const removePost = (id: number) => deletePosts(stores, ada, [id]);
  /** Compares the stores with some of their functions replaced, and expects no difference. */
  async function expectNoDifference(
    t: Test,
    bulk: Partial<typeof graph.bulk>,
    ofImages: Partial<typeof images> = {},
  ): Promise<void> {
    const changed: Stores = {
      ...stores,
      graph: { ...graph, bulk: { ...graph.bulk, ...bulk } },
      images: { ...images, ...ofImages },
    };
    t.same(await findDifferences(changed), {});
  }

  t.test('an account is deleted after its node was read', async (t) => {
    const deleted = await account();
    await graph.like([{ person: deleted, post: kept.id }]);
    const personIds = followedBy(graph.bulk.personIds, () => deleteAccount(deleted));
    await expectNoDifference(t, { personIds });
    const accounts = await db.selectFrom('accounts').select('id').where('id', '=', deleted).execute();
    t.same(accounts, [], 'the account was deleted');
  });

  t.test('a post is deleted after its node was read', async (t) => {
    const deleted = await post(ada);
    await graph.like([{ person: ben, post: deleted }]);
    const postIds = followedBy(graph.bulk.postIds, () => removePost(deleted));
    await expectNoDifference(t, { postIds });
  });

  t.test('a missing node is created, or its account deleted, before the second read', needsNodes, async (t) => {
    for (const isDeleted of [false, true]) {
      const { id, entries } = await accountWithoutNode();
      const personIds = followedBy(graph.bulk.personIds, async () => {
        await outbox.deliver(entries);
        if (isDeleted) await deleteAccount(id);
      });
      await expectNoDifference(t, { personIds });
      if (!isDeleted) await deleteAccount(id);
    }
  });

  t.test('an image is removed after it was listed', async (t) => {
    const { id } = await postWithImage(ada);
    const remove = once(() => removePost(id));
    const list = async function* () {
      yield* images.list();
      await remove();
    };
    await expectNoDifference(t, {}, { list });
  });

  t.test('an image is stored, and its post created, after the images were listed', async (t) => {
    const create = once(() => postWithImage(ada));
    const list = async function* () {
      yield* images.list();
      await create();
    };
    await expectNoDifference(t, {}, { list });
  });
});

t.test('finds no difference under load, and a repair changes nothing', async (t) => {
  const service = await startTestService(t, await emptyStores(t));
  const created: TestUser[] = [];

  /** Runs through the life cycle of an account, from registration to deletion. */
  async function runLifecycle(): Promise<void> {
    const user = await service.createUser();
    const others = created.slice(-3);
    created.push(user);
    await user.send('PUT', '/profiles/me', { form: { image: picture() } });
    const [first, second] = [await createPost(user, { image: picture() }), await createPost(user)];
    for (const other of others) {
      await befriend(user, other);
      await other.send('POST', `/posts/like?id=${first.id}`);
      await other.send('POST', `/posts/like?id=${second.id}`);
      await other.send('DELETE', `/friends/remove?id=${user.id}`);
      await user.send('POST', `/friends/request?to=${other.id}`);
    }
    await user.send('PUT', `/posts/edit?id=${first.id}`, { form: { image: picture() } });
    await user.send('DELETE', `/posts/delete?id=${second.id}`);
    await user.send('PUT', '/profiles/me', { form: { image: picture() } });
    await user.send('DELETE', '/profiles/me', { json: { password: PASSWORD } });
  }

  // Four users at a time, each followed by another one.
  const lifecycles = Promise.all(Array.from({ length: 4 }, () => repeat(2, runLifecycle)));
  let rounds = 0;
  await repeatUntilSettled(lifecycles, async () => {
    rounds += 1;
    t.same(await findDifferences(service.stores), {}, `round ${rounds}`);
    if (rounds % 2 === 0) t.equal(await repairStores(service.stores), 0);
  });
  t.ok(rounds > 2, `${rounds} rounds`);
  t.same(await findDifferences(service.stores), {});
});
