import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { storeImage as storePending } from '../db/outbox/pending-images.js';
import { migrations } from '../db/postgres/migrations/index.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { verify } from '../scripts/verify/verify.js';
import { countLikes, idsOf } from './support/consistency.js';
import { listImageNames } from './support/image-store.js';
import {
  createFixtures,
  findDifferences,
  needsNodes,
  openStoresWithoutRelay,
  repairStores,
  repeat,
} from './support/store-fixtures.js';

t.test('finds differences, and repairs them on request', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { db, graph, images } = stores;
  const { account, post, postWithImage, storeImage, enqueueEntries } = createFixtures(stores);
  const [user, reader] = [await account(), await account()];
  const keptPost = await postWithImage(user);
  const picture = await storeImage();
  await db.updateTable('accounts').set({ picture }).where('id', '=', user).execute();
  await graph.like([{ person: reader, post: keptPost.id }]);
  await graph.request(user, reader);
  await graph.accept(reader, user);
  t.same(await findDifferences(stores), {}, 'the stores are consistent at first');

  /** Expects exactly these differences, and that a repair removes them. */
  async function expectRepaired(t: Test, title: string, keys: (number | string)[]) {
    t.same(await findDifferences(stores), { [title]: keys.toSorted() });
    t.equal(await repairStores(stores), 0, 'no delivery fails');
    t.same(await findDifferences(stores), {}, 'nothing is found afterwards');
  }

  t.test('people in the graph without an account', async (t) => {
    const ids = await repeat(3, account);
    await graph.like(ids.map((person) => ({ person, post: keptPost.id })));
    for (const id of ids) await graph.request(user, id);
    await db.deleteFrom('accounts').where('id', 'in', ids).execute();
    // An entry of another kind with the same key does not announce the removal of the node.
    const entries = await enqueueEntries([{ kind: 'image', key: ids[0] ?? '' }]);
    await expectRepaired(t, 'People in the graph without an account', ids);
    await db.deleteFrom('outbox').where('id', 'in', idsOf(entries)).execute();
    t.same(await countLikes(graph, [keptPost.id]), [1], 'their likes are also removed');
  });

  t.test('posts in the graph without a row, whose ids are not used again', async (t) => {
    const ids = await repeat(3, () => post(user));
    const lost = (ids.at(-1) ?? 0) + 10;
    await graph.like([...ids, lost].map((post) => ({ person: reader, post })));
    await db.deleteFrom('posts').where('id', 'in', ids).execute();
    await expectRepaired(t, 'Posts in the graph without a row', [...ids, lost]);
    t.same(await countLikes(graph, ids), [0, 0, 0]);
    t.equal(await post(user), lost + 1);
  });

  t.test('stored images that nothing refers to, but not files of others', async (t) => {
    const names = await repeat(3, () => storeImage());
    const others = ['backup-of-monday.tar', `${'0'.repeat(32)}.png.part`];
    for (const name of others) await storeImage(name);
    await expectRepaired(t, 'Stored images that nothing refers to', names);
    t.same((await listImageNames(images)).toSorted(), [keptPost.image, picture, ...others].toSorted());
    for (const name of others) await images.remove(name);
  });

  t.test('accounts with a wrong total of stored bytes', async (t) => {
    const accounts = await repeat(3, () => account());
    for (const author of accounts) await postWithImage(author);
    await sql`update accounts set stored_bytes = 7, picture_bytes = 3 where id = any(${accounts})`.execute(db);
    await expectRepaired(t, 'Accounts with a wrong total of stored bytes', accounts);
    const repaired = await db.selectFrom('accounts').select('stored_bytes').where('id', 'in', accounts).execute();
    // The image of the post has 5 bytes, and the picture counts 3.
    t.same(
      repaired,
      accounts.map(() => ({ stored_bytes: 8 })),
    );
  });

  t.test('accounts and posts without nodes', needsNodes, async (t) => {
    const people = await repeat(3, account);
    for (const id of people) await graph.removePerson(id);
    await expectRepaired(t, 'Accounts without a person in the graph', people);
    const posts = await repeat(3, () => post(user));
    for (const id of posts) await graph.removePost(id);
    await expectRepaired(t, 'Posts that the graph lacks', posts);
  });

  t.test('lost images, which a repair cannot restore', async (t) => {
    const lost = await repeat(3, () => postWithImage(user));
    for (const { image } of lost) await images.remove(image);
    await images.remove(picture);
    const expected = { 'Images that are not stored': [...lost.map(({ image }) => image), picture].toSorted() };
    t.same(await findDifferences(stores), expected);
    t.equal(await repairStores(stores), 0);
    t.same(await findDifferences(stores), expected);
  });
});

t.test('tries each repair once, and leaves retries to the service', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { storeImage } = createFixtures(stores);
  const names = await repeat(60, () => storeImage());
  const remove = () => Promise.reject(new StoreUnavailableError('images'));
  t.equal(await repairStores({ ...stores, images: { ...stores.images, remove } }), names.length);
  const entries = await stores.db.selectFrom('outbox').select('attempts').execute();
  t.same(
    entries,
    names.map(() => ({ attempts: 1 })),
  );
  t.same(await findDifferences(stores), {}, 'what is in the outbox is no difference');
  await stores.db.deleteFrom('outbox').execute();
  t.equal(await repairStores(stores), 0);
  t.same(await listImageNames(stores.images), []);
});

t.test('changes in the outbox are no differences', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { db, graph } = stores;
  const { account, accountWithoutNode, post, storeImage, enqueueEntries, upload } = createFixtures(stores);
  const user = await account();
  const [deletedPerson, deletedPost, image] = [await account(), await post(user), await storeImage()];
  await graph.like([{ person: deletedPerson, post: deletedPost }]);
  await db.deleteFrom('accounts').where('id', '=', deletedPerson).execute();
  await db.deleteFrom('posts').where('id', '=', deletedPost).execute();
  t.not(Object.keys(await findDifferences(stores)).length, 0);
  await enqueueEntries([
    { kind: 'person', key: deletedPerson },
    { kind: 'post', key: deletedPost },
    { kind: 'image', key: image },
  ]);
  await accountWithoutNode();
  await storePending(stores, await upload());
  t.same(await findDifferences(stores), {});
});

t.test('refuses stores that were moved, whose move is unfinished, or that need a migration', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  for (const [change, message] of [
    [{ moving: true }, /has not been finished/],
    [{ moving: false, moved_to: 'db.example' }, /was moved to db.example/],
  ] as const) {
    await stores.db.updateTable('installation').set(change).execute();
    await t.rejects(verify(stores), { message });
  }
  await sql`delete from kysely_migration where name = ${Object.keys(migrations).at(-1)}`.execute(stores.db);
  await t.rejects(verify(stores), { message: /run npm run migrate first/ });
});

t.test('reports progress', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { account, postWithImage } = createFixtures(stores);
  const user = await account();
  await repeat(5, () => postWithImage(user));
  const reports: Record<string, [done: number, total: number][]> = {};
  const progress = (step: string, done: number, total: number) => {
    reports[step] = [...(reports[step] ?? []), [done, total]];
  };
  await verify(stores, progress, 2);
  t.same(reports, {
    people: [[1, 1]],
    posts: [2, 4, 5].map((done) => [done, 5]),
    images: [2, 4, 5].map((done) => [done, 5]),
  });
});
