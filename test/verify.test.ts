import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { storeImage as storePending } from '../db/outbox/pending-images.js';
import { migrations } from '../db/postgres/migrations/index.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { verify } from '../scripts/verify/verify.js';
import { findEdgeProblems } from './support/consistency.js';
import { countLikes, idsOf } from './support/store-contents.js';
import {
  createFixtures,
  findingsByRule,
  needsNodes,
  openStoresWithoutRelay,
  repeat,
  verifyStores,
} from './support/store-fixtures.js';
import { silentLog } from './support/stores.js';

t.test('finds violations, and repairs them on request', async (t) => {
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
  t.same(findingsByRule(await verifyStores(stores)), {}, 'the stores are consistent at first');

  /** Expects exactly one violation for each item, all of one rule, and that a repair fixes them. */
  async function expectRepaired<Item>(t: Test, rule: string, items: Item[], describe: (item: Item) => string = String) {
    const found = items.length;
    const examples = items.map(describe).sort();
    const findings = async (repair: boolean) => {
      const result = await verifyStores(stores, repair);
      for (const finding of result.findings) finding.examples.sort();
      return findingsByRule(result);
    };
    for (const when of ['violations are found', 'a check without repair changes nothing'])
      t.same(await findings(false), { [rule]: { found, repaired: 0, examples } }, when);
    t.same(await findings(true), { [rule]: { found, repaired: found, examples } }, 'violations are repaired');
    t.same(await findings(false), {}, 'nothing is found afterwards');
  }

  t.test('users in the graph without an account', async (t) => {
    const ids = await repeat(3, account);
    await graph.like(ids.map((person) => ({ person, post: keptPost.id })));
    for (const id of ids) await graph.request(user, id);
    await db.deleteFrom('accounts').where('id', 'in', ids).execute();
    // An entry of another kind with the same key does not announce the removal of the node.
    const entries = await enqueueEntries([{ kind: 'image', key: ids[0] ?? '' }]);
    await expectRepaired(t, 'personHasAccount', ids, (id) => `person ${id}`);
    await db.deleteFrom('outbox').where('id', 'in', idsOf(entries)).execute();
    t.same(await countLikes(graph, [keptPost.id]), [1], 'their likes are also removed');
  });

  t.test('posts in the graph without a row', async (t) => {
    const ids = await repeat(3, () => post(user));
    await graph.like(ids.map((post) => ({ person: reader, post })));
    await db.deleteFrom('posts').where('id', 'in', ids).execute();
    await expectRepaired(t, 'postNodeHasPost', ids, (id) => `post ${id}`);
    t.same(await countLikes(graph, ids), [0, 0, 0]);
  });

  t.test('images that no row references', async (t) => {
    const names = await repeat(3, () => storeImage());
    await expectRepaired(t, 'imageHasRow', names);
    t.notOk(await images.get(names[0] ?? ''), 'their bytes are removed');
    const image = await images.get(keptPost.image);
    t.ok(image, 'other images are kept');
    image?.stream.destroy();
  });

  t.test('overdue outbox entries', async (t) => {
    const names = await repeat(3, () => storeImage());
    const entries = await enqueueEntries(names.map((key) => ({ kind: 'image', key })));
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await sql`update outbox set due_at = now() - interval '6 minutes', created_at = ${since}
      where id = any(${idsOf(entries)})`.execute(db);
    await expectRepaired(t, 'noOverdueEntry', names, (name) => `image ${name} since ${since}`);
    t.notOk(await images.get(names[0] ?? ''));
  });

  t.test('accounts with a wrong number of stored bytes', async (t) => {
    const accounts = await repeat(3, () => account());
    for (const author of accounts) await postWithImage(author);
    await sql`update accounts set stored_bytes = 7, picture_bytes = 3 where id = any(${accounts})`.execute(db);
    // Each image of a post has 5 bytes, and the picture counts 3.
    await expectRepaired(t, 'storedBytes', accounts, (id) => `account ${id}: 7 instead of 8`);
  });

  t.test('sequences below the ids in use', async (t) => {
    const [lastAccount, lastPost] = [await account(), await post(user)];
    await sql`select setval('posts_id_seq', ${lastPost}, false), setval('accounts_id_seq', 1)`.execute(db);
    const examples = [
      `accounts: the last issued id is 1, but ${lastAccount} is in use`,
      `posts: the last issued id is ${lastPost - 1}, but ${lastPost} is in use`,
    ];
    await expectRepaired(t, 'sequencesAhead', examples);
    t.equal(await post(user), lastPost + 1);
  });

  t.test('a sequence below the ids of the graph', async (t) => {
    const before = await post(user);
    await graph.like([{ person: reader, post: before + 10 }]);
    const found = findingsByRule(await verifyStores(stores, true));
    t.match(found, { sequencesAhead: { repaired: 1 }, postNodeHasPost: { repaired: 1 } });
    t.equal(await post(user), before + 11, 'a new post does not get the likes of another one');
    t.same(findingsByRule(await verifyStores(stores)), {});
  });

  t.test('accounts and posts without nodes', needsNodes, async (t) => {
    const people = await repeat(3, account);
    for (const id of people) await graph.removePerson(id);
    await expectRepaired(t, 'accountHasPerson', people, (id) => `person ${id}`);
    const posts = await repeat(3, () => post(user));
    for (const id of posts) await graph.removePost(id);
    await expectRepaired(t, 'postHasNode', posts, (id) => `post ${id}`);
  });
});

t.test('reports violations that a repair cannot fix, each time', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { db, images } = stores;
  const { account, postWithImage, storeImage, enqueueEntries } = createFixtures(stores);
  const user = await account();

  /** Expects the same finding before, during and after a repair. */
  const expectUnrepairable = async (t: Test, rule: string, examples: string[], found = examples.length) => {
    for (const repair of [false, true, false]) {
      t.same(findingsByRule(await verifyStores(stores, repair)), { [rule]: { found, repaired: 0, examples } });
    }
  };

  t.test('lost bytes of images', async (t) => {
    const posts = await repeat(7, () => postWithImage(user));
    const lost = posts.filter((_, index) => index !== 1);
    for (const { image } of lost) await images.remove(image);
    const examples = lost.slice(0, 5).map(({ id, image }) => `post ${id}: ${image}`);
    await expectUnrepairable(t, 'rowHasImage', examples, lost.length);
    await db.updateTable('posts').set({ image: null }).execute();
    await db
      .updateTable('accounts')
      .set({ picture: lost[0]?.image ?? null })
      .where('id', '=', user)
      .execute();
    const again = findingsByRule(await verifyStores(stores, true));
    t.same(again.rowHasImage?.examples, [`account ${user}: ${lost[0]?.image}`], 'profile pictures are also checked');
    await db.updateTable('accounts').set({ picture: null }).execute();
    t.same(findingsByRule(await verifyStores(stores)), {}, 'bytes that no row references were removed');
  });

  t.test('files that are not images of the service', async (t) => {
    await storeImage('backup-of-monday.tar');
    await expectUnrepairable(t, 'onlyImages', ['backup-of-monday.tar']);
    await images.remove('backup-of-monday.tar');
  });

  t.test('images that the store does not remove; each removal is tried once', async (t) => {
    const names = await repeat(40, () => storeImage());
    const remove = () => Promise.reject(new StoreUnavailableError('images'));
    const refusing = { ...stores, images: { ...images, remove } };
    const { findings } = await verify(refusing, { repair: true, log: silentLog });
    t.match(
      findings.find(({ name }) => name === 'imageHasRow'),
      { found: 40, repaired: 0 },
    );
    const entries = await db.selectFrom('outbox').select('attempts').execute();
    t.same(
      entries,
      names.map(() => ({ attempts: 1 })),
    );
    await db.deleteFrom('outbox').execute();
    t.match(findingsByRule(await verifyStores(stores, true)), { imageHasRow: { repaired: 40 } });
  });

  t.test('deliveries that fail repeatedly', async (t) => {
    const entries = await enqueueEntries([{ kind: 'person', key: user }]);
    const due_at = new Date(Date.now() + 300_000);
    await db.updateTable('outbox').set({ attempts: 10, due_at }).where('id', 'in', idsOf(entries)).execute();
    await expectUnrepairable(t, 'noFailingDelivery', [`person ${user}, 10 times`]);
    await db.deleteFrom('outbox').execute();
  });
});

t.test('reports waiting outbox entries, but not as findings', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { db, graph } = stores;
  const { account, accountWithoutNode, post, storeImage, enqueueEntries, upload } = createFixtures(stores);
  const user = await account();
  const [deletedPerson, deletedPost, image] = [await account(), await post(user), await storeImage()];
  await graph.like([{ person: deletedPerson, post: deletedPost }]);
  await db.deleteFrom('accounts').where('id', '=', deletedPerson).execute();
  await db.deleteFrom('posts').where('id', '=', deletedPost).execute();
  const due = await enqueueEntries([
    { kind: 'person', key: deletedPerson },
    { kind: 'post', key: deletedPost },
    { kind: 'image', key: image },
  ]);
  await sql`update outbox set due_at = now() - interval '4 minutes' where id = any(${idsOf(due)})`.execute(db);
  await accountWithoutNode();
  const [second] = await enqueueEntries([{ kind: 'post', key: 1_000_000 }]);
  const createdAt = new Date('2026-01-02T03:04:05Z');
  await sql`update outbox set delivered = true, attempts = 12, due_at = now() + interval '1 minute', created_at = ${createdAt}
    where id = ${second?.id}`.execute(db);

  await storePending(stores, await upload());
  const result = await verifyStores(stores);
  t.same(findingsByRule(result), {});
  t.match(
    result.pending.map(({ kind, stage, count }) => [kind, stage, count]),
    [
      ['image', 'delivery', 1],
      ['image', 'its row', 1],
      ['person', 'delivery', 2],
      ['post', 'delivery', 1],
      ['post', 'second delivery', 1],
    ],
  );
  t.same(result.pending.at(-1)?.since, createdAt.toISOString());
});

t.test('refuses stores that were moved, whose move is unfinished, or that need a migration', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  for (const [change, message] of [
    [{ moving: true }, /has not been finished/],
    [{ moving: false, changing: true }, /has not been finished/],
    [{ changing: false, moved_to: 'db.example' }, /was moved to db.example/],
  ] as const) {
    await stores.db.updateTable('installation').set(change).execute();
    await t.rejects(verifyStores(stores, true), { message });
  }
  await sql`delete from kysely_migration where name = ${Object.keys(migrations).at(-1)}`.execute(stores.db);
  await t.rejects(verifyStores(stores), { message: /run npm run migrate first/ });
});

t.test('reports progress', async (t) => {
  const stores = await openStoresWithoutRelay(t);
  const { account, postWithImage } = createFixtures(stores);
  const user = await account();
  const posts = await repeat(5, () => postWithImage(user));
  await stores.graph.like(posts.map(({ id }) => ({ person: user, post: id })));
  const reports: Record<string, [done: number, total: number][]> = {};
  const progress = (step: string, done: number, total: number) => {
    reports[step] = [...(reports[step] ?? []), [done, total]];
  };
  await verify(stores, { repair: false, log: silentLog, pageSize: 2, progress });
  for (const step of ['posts in the graph', 'stored images', 'images of posts']) {
    t.same(
      reports[step],
      [0, 2, 4, 5].map((done) => [done, 5]),
      step,
    );
  }
});

t.test('the consistency checks of tests find contradicting edges', async (t) => {
  const pairsIn = (text: string) =>
    [...text.matchAll(/(\d)-(\d)/g)].map(([, one, other]) => [Number(one), Number(other)]);
  const cases: [friendships: string, requests: string, likes: string, ...expected: string[]][] = [
    ['2-1 1-2', '3-1', '1-9'],
    ['2-1', '', '', 'one-sided friendship: 2 1'],
    ['2-1 1-2', '2-1', '', 'request between friends: 2 1'],
    ['', '2-1 1-2', '', 'mutual requests: 2 1', 'mutual requests: 1 2'],
    ['2-1 1-2 2-1', '', '', 'duplicate: 2 1'],
    ['', '2-1 2-1', '', 'duplicate: 2 1'],
    ['', '', '1-9 2-9 1-9', 'duplicate: 1 9'],
    ['1-1', '', '', 'related to oneself: 1 1'],
  ];
  for (const [friendships, requests, likes, ...expected] of cases) {
    const edges = {
      friendships: pairsIn(friendships).map(([person = 0, friend = 0]) => ({ person, friend })),
      requests: pairsIn(requests).map(([from = 0, to = 0]) => ({ from, to })),
      likes: pairsIn(likes).map(([person = 0, post = 0]) => ({ person, post })),
    };
    t.same(findEdgeProblems(edges), expected);
  }
});
