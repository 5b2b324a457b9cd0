import t, { type Test } from 'tap';
import { deletePost } from '../../db/post-writes.js';
import type { Stores } from '../../db/stores.js';
import { verify } from '../../scripts/verify/verify.js';
import { picture } from '../support/picture.js';
import { repeatUntilSettled } from '../support/races.js';
import { befriend, createPost, PASSWORD, startTestService, type TestUser } from '../support/service.js';
import {
  createFixtures,
  emptyStores,
  findingsByRule,
  needsNodes,
  openStoresWithoutRelay,
  repeat,
  verifyStores,
} from '../support/store-fixtures.js';
import { silentLog } from '../support/stores.js';

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
  const removePost = (id: number) => deletePost(stores, ada, id);
  /** Verifies the stores with some of their functions replaced, and expects no finding. */
  async function expectNoFinding(t: Test, bulk: Partial<typeof graph.bulk>, ofImages: Partial<typeof images> = {}) {
    const changed: Stores = {
      ...stores,
      graph: { ...graph, bulk: { ...graph.bulk, ...bulk } },
      images: { ...images, ...ofImages },
    };
    t.same(findingsByRule(await verify(changed, { repair: true, log: silentLog })), {});
  }

  t.test('an account is deleted after its node was read', async (t) => {
    const deleted = await account();
    await graph.like([{ person: deleted, post: kept.id }]);
    const personIds = followedBy(graph.bulk.personIds, () => deleteAccount(deleted));
    await expectNoFinding(t, { personIds });
    const accounts = await db.selectFrom('accounts').select('id').where('id', '=', deleted).execute();
    t.same(accounts, [], 'the account was deleted');
  });

  t.test('a post is deleted after its node was read', async (t) => {
    const deleted = await post(ada);
    await graph.like([{ person: ben, post: deleted }]);
    const postIds = followedBy(graph.bulk.postIds, () => removePost(deleted));
    await expectNoFinding(t, { postIds });
  });

  t.test('a missing node is created, or its account deleted, before the second read', needsNodes, async (t) => {
    for (const isDeleted of [false, true]) {
      const { id, entries } = await accountWithoutNode();
      let reads = 0;
      const personIds: typeof graph.bulk.personIds = async (...page) => {
        reads += 1;
        // The first read looks for nodes without accounts, the next two for accounts without nodes.
        if (reads === 3 && isDeleted) await deleteAccount(id);
        const ids = await graph.bulk.personIds(...page);
        if (reads === 2) {
          t.notOk(ids.includes(id), 'the node is missing');
          await outbox.deliver(entries);
        }
        return ids;
      };
      await expectNoFinding(t, { personIds });
      if (!isDeleted) await deleteAccount(id);
    }
  });

  t.test('an image is removed after it was listed', async (t) => {
    const { id } = await postWithImage(ada);
    const remove = once(() => removePost(id));
    const list = async function* () {
      for await (const name of images.list()) {
        yield name;
        await remove();
      }
    };
    await expectNoFinding(t, {}, { list });
  });

  t.test('an image is removed after its row was read', async (t) => {
    const { id } = await postWithImage(ada);
    const remove = once(() => removePost(id));
    const get = async (name: string) => {
      await remove();
      return images.get(name);
    };
    await expectNoFinding(t, {}, { get });
  });
});

t.test('finds no violation under load, and a repair changes nothing', async (t) => {
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
    const verdict = await verifyStores(service.stores, rounds % 2 === 0);
    t.same(findingsByRule(verdict), {}, `round ${rounds}`);
  });
  t.ok(rounds > 2, `${rounds} rounds`);
  t.same(findingsByRule(await verifyStores(service.stores)), {});
});
