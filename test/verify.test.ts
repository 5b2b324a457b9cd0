import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { createAccount } from '../db/accounts.js';
import type { Edges } from '../db/graph/index.js';
import { withPendingImage } from '../db/outbox/pending-images.js';
import type { Stores } from '../db/stores.js';
import { judge } from '../scripts/verify/judge.js';
import { type Verdict, verify } from '../scripts/verify/verify.js';
import { countLikes } from './support/contents.js';
import { inGraph, quiet } from './support/stores.js';
import { broken, halves, inspect, NO_TIES, nodes, openQuietly, population, times } from './support/verifying.js';

/** Expects this finding and no other, sees it mended, and sees that nothing is left of it. */
async function mends(t: Test, stores: Stores, rule: string, examples: string[]): Promise<void> {
  const sorted = (verdict: Verdict) => {
    for (const finding of verdict.findings) finding.examples.sort();
    return broken(verdict);
  };
  examples.sort();
  t.same(sorted(await inspect(stores)), { [rule]: { found: 3, mended: 0, examples } }, 'it is found');
  t.same(sorted(await inspect(stores)), { [rule]: { found: 3, mended: 0, examples } }, 'and left alone');
  t.same(sorted(await inspect(stores, true)), { [rule]: { found: 3, mended: 3, examples } }, 'until it is mended');
  t.same(broken(await inspect(stores)), {}, 'for good');
}

t.test('what a repair mends', async (t) => {
  const stores = await openQuietly(t);
  const { db, graph, images } = stores;
  const { account, post, imaged, stored, record } = population(stores);
  const [ada, ben] = [await account(), await account()];
  const kept = await imaged(ada);
  const picture = await stored();
  await db.updateTable('accounts').set({ picture }).where('id', '=', ada).execute();
  await graph.like([{ person: ben, post: kept.id }]);
  await graph.request(ada, ben);
  await graph.accept(ben, ada);
  t.same(await inspect(stores).then(broken), {}, 'nothing is wrong to begin with');

  t.test('people in the graph whose accounts are gone', async (t) => {
    const gone = await times(3, account);
    await graph.like(gone.map((person) => ({ person, post: kept.id })));
    for (const id of gone) await graph.request(ada, id);
    await db.deleteFrom('accounts').where('id', 'in', gone).execute();
    await mends(
      t,
      stores,
      'personHasAccount',
      gone.map((id) => `person ${id}`),
    );
    t.same(await countLikes(graph, [kept.id]), [1], 'with what tied to them');
  });

  t.test('posts in the graph that are gone', async (t) => {
    const gone = await times(3, () => post(ada));
    await graph.like(gone.map((post) => ({ person: ben, post })));
    await db.deleteFrom('posts').where('id', 'in', gone).execute();
    await mends(
      t,
      stores,
      'postNodeHasPost',
      gone.map((id) => `post ${id}`),
    );
    t.same(await countLikes(graph, gone), [0, 0, 0]);
  });

  t.test('images that no row names', async (t) => {
    const names = await times(3, () => stored());
    await mends(t, stores, 'imageHasRow', names);
    t.notOk(await images.get(names[0] ?? ''), 'their bytes are gone');
    const image = await images.get(kept.image);
    t.ok(image, 'and no others');
    image?.stream.destroy();
  });

  t.test('what should have been delivered long ago', async (t) => {
    const gone = await times(3, () => stored());
    const entries = await record(gone.map((key) => ({ kind: 'image', key })));
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await sql`update outbox set due_at = ${since}, created_at = ${since} where id = any(${entries})`.execute(db);
    await mends(
      t,
      stores,
      'onTime',
      gone.map((name) => `image ${name} since ${since}`),
    );
    t.notOk(await images.get(gone[0] ?? ''));
  });

  t.test('accounts that count other bytes than they store', async (t) => {
    const accounts = await times(3, () => account());
    for (const author of accounts) await imaged(author);
    await sql`update accounts set stored_bytes = 7, picture_bytes = 3 where id = any(${accounts})`.execute(db);
    // Each image of a post has 5 bytes.
    await mends(
      t,
      stores,
      'storedBytes',
      accounts.map((id) => `account ${id}: 7 instead of 8`),
    );
  });

  t.test('sequences behind the ids in use', async (t) => {
    const [most, last] = [await account(), await post(ada)];
    await sql`select setval('posts_id_seq', ${last}, false), setval('accounts_id_seq', 1)`.execute(db);
    const examples = [
      `accounts: 1 was given out last, and ${most} is in use`,
      `posts: ${last - 1} was given out last, and ${last} is in use`,
    ];
    t.same(broken(await inspect(stores)), { idsAreNew: { found: 2, mended: 0, examples } });
    t.same(broken(await inspect(stores, true)), { idsAreNew: { found: 2, mended: 2, examples } });
    t.same(broken(await inspect(stores)), {});
    t.equal(await post(ada), last + 1);
  });

  t.test('a sequence behind the graph', async (t) => {
    const before = await post(ada);
    await graph.like([{ person: ben, post: before + 10 }]);
    const found = broken(await inspect(stores, true));
    t.match(found, { idsAreNew: { mended: 1 }, postNodeHasPost: { mended: 1 } });
    t.equal(await post(ada), before + 11, 'the likes of another post are nobody’s');
    t.same(broken(await inspect(stores)), {});
  });

  t.test('accounts and posts without their nodes', nodes, async (t) => {
    const people = await times(3, account);
    for (const id of people) await graph.removePerson(id);
    await mends(
      t,
      stores,
      'accountHasPerson',
      people.map((id) => `person ${id}`),
    );
    const posts = await times(3, () => post(ada));
    for (const id of posts) await graph.removePost(id);
    await mends(
      t,
      stores,
      'postHasNode',
      posts.map((id) => `post ${id}`),
    );
  });

  t.test('ties that contradict each other', halves, async (t) => {
    const three = async () => {
      const pairs = await times(3, async () => [await account(), await account()] as const);
      return { pairs, examples: pairs.map(([lo, hi]) => `people ${lo} and ${hi}`) };
    };
    const { snapshot } = graph;

    const friends = await three();
    const [one, other] = friends.pairs[0] ?? [0, 0];
    const halfway = friends.pairs.map(([lo, hi], index) =>
      index === 0 ? { person: hi, friend: lo } : { person: lo, friend: hi },
    );
    await snapshot.addEdges({ ...NO_TIES, friendships: halfway });
    await mends(t, stores, 'bothWays', friends.examples);
    t.same([await graph.friendsOf(one), await graph.friendsOf(other)], [[], []]);

    const both = await three();
    for (const [lo, hi] of both.pairs) {
      await graph.request(lo, hi);
      await graph.accept(hi, lo);
      await snapshot.addEdges({ ...NO_TIES, requests: [{ from: hi, to: lo }] });
    }
    await mends(t, stores, 'friendOrRequested', both.examples);
    for (const [lo, hi] of both.pairs) t.same(await graph.friendsOf(lo), [hi], 'friends they stay');

    const mutual = await three();
    for (const [from, to] of mutual.pairs) {
      await snapshot.addEdges({
        ...NO_TIES,
        requests: [
          { from, to },
          { from: to, to: from },
        ],
      });
    }
    await mends(t, stores, 'oneRequest', mutual.examples);
    for (const [lo, hi] of mutual.pairs) {
      t.same([await graph.requestersOf(hi), await graph.requestersOf(lo)], [[lo], []]);
    }

    const loners = await times(3, account);
    for (const id of loners) {
      await snapshot.addEdges({
        ...NO_TIES,
        friendships: [{ person: id, friend: id }],
        requests: [{ from: id, to: id }],
      });
    }
    await mends(
      t,
      stores,
      'selfless',
      loners.map((id) => `person ${id}`),
    );
  });

  t.test('ties that are there twice', halves, async (t) => {
    const [one, other, third] = [await account(), await account(), await account()];
    const ids = { one, other, third, post: kept.id };
    await inGraph(
      `MATCH (a:Person {id: toInteger($one)}), (b:Person {id: toInteger($other)}), (c:Person {id: toInteger($third)})
       MATCH (post:Post {id: toInteger($post)})
       CREATE (a)-[:FRIENDS_WITH]->(b), (a)-[:FRIENDS_WITH]->(b), (b)-[:FRIENDS_WITH]->(a), (b)-[:FRIENDS_WITH]->(a)
       CREATE (c)-[:REQUESTED]->(a), (c)-[:REQUESTED]->(a)
       CREATE (c)-[:LIKES]->(post), (c)-[:LIKES]->(post)`,
      ids,
    );
    await mends(t, stores, 'once', [
      `people ${one} and ${other}`,
      `people ${one} and ${third}`,
      `person ${third} likes post ${kept.id}`,
    ]);
    t.same([await graph.friendsOf(one), await graph.friendsOf(other)], [[other], [one]]);
    t.same(await graph.requestersOf(one), [third]);
    t.same(await countLikes(graph, [kept.id]), [2]);
  });
});

t.test('what no repair can mend is said, again and again', async (t) => {
  const stores = await openQuietly(t);
  const { db, images } = stores;
  const { account, post, imaged, stored, record } = population(stores);
  const ada = await account();

  /** Sees the same before a repair, in it and after it. */
  const stays = async (t: Test, rule: string, examples: string[], found = examples.length) => {
    for (const repair of [false, true, false]) {
      t.same(broken(await inspect(stores, repair)), { [rule]: { found, mended: 0, examples } });
    }
  };

  t.test('bytes that are lost', async (t) => {
    const posts = await times(6, () => imaged(ada));
    const lost = posts.filter((_, index) => index !== 1);
    for (const { image } of lost) await images.remove(image);
    await stays(
      t,
      'rowHasImage',
      lost.map(({ id, image }) => `post ${id}: ${image}`),
    );
    await db.updateTable('posts').set({ image: null }).execute();
    await db
      .updateTable('accounts')
      .set({ picture: lost[0]?.image ?? null })
      .where('id', '=', ada)
      .execute();
    const again = broken(await inspect(stores, true));
    t.same(again.rowHasImage?.examples, [`account ${ada}: ${lost[0]?.image}`], 'pictures too');
    await db.updateTable('accounts').set({ picture: null }).execute();
    t.same(broken(await inspect(stores)), {}, 'bytes that nothing names any more were removed');
  });

  t.test('an image that two rows name', async (t) => {
    const { id, image } = await imaged(ada);
    await db.updateTable('accounts').set({ picture: image }).where('id', '=', ada).execute();
    await stays(t, 'imageHasOneRow', [`post ${id}: ${image}`]);
    await db.updateTable('accounts').set({ picture: null }).execute();
  });

  t.test('posts whose author is gone', async (t) => {
    const ben = await account();
    const posts = await times(7, () => post(ben));
    await stores.graph.removePerson(ben);
    await db.deleteFrom('accounts').where('id', '=', ben).execute();
    const examples = posts.slice(0, 5).map((id) => `post ${id} of account ${ben}`);
    await stays(t, 'postHasAuthor', examples, 7);
    await db.deleteFrom('posts').where('author_id', '=', ben).execute();
    for (const id of posts) await stores.graph.removePost(id);
  });

  t.test('files that are no images of the service', async (t) => {
    await stored('backup-of-monday.tar');
    await stays(t, 'onlyImages', ['backup-of-monday.tar']);
    await images.remove('backup-of-monday.tar');
  });

  t.test('deliveries that fail again and again', async (t) => {
    const entries = await record([{ kind: 'person', key: ada }]);
    const due_at = new Date(Date.now() + 300_000);
    await db.updateTable('outbox').set({ attempts: 10, due_at }).where('id', 'in', entries).execute();
    await stays(t, 'deliverable', [`person ${ada}, 10 times`]);
    await db.deleteFrom('outbox').execute();
  });
});

t.test('what waits in the outbox is shown, and is no disagreement', async (t) => {
  const stores = await openQuietly(t);
  const { db, graph } = stores;
  const { account, post, stored, record, upload } = population(stores);
  const ada = await account();
  const [gone, posted, image] = [await account(), await post(ada), await stored()];
  await graph.like([{ person: gone, post: posted }]);
  await db.deleteFrom('accounts').where('id', '=', gone).execute();
  await db.deleteFrom('posts').where('id', '=', posted).execute();
  await record([
    { kind: 'person', key: gone },
    { kind: 'post', key: posted },
    { kind: 'image', key: image },
  ]);
  const created = await createAccount(db, { name: 'N', username: 'n', email: 'n@x.example', passwordHash: 'hash' });
  t.ok(created, 'whose node is not there yet');
  const [second] = await record([{ kind: 'post', key: 1_000_000 }]);
  const long = new Date('2026-01-02T03:04:05Z');
  await sql`update outbox set delivered = true, due_at = now() + interval '1 minute', created_at = ${long}
    where id = ${second}`.execute(db);

  await withPendingImage(stores, await upload(), async () => {
    const verdict = await inspect(stores);
    t.same(broken(verdict), {});
    t.match(
      verdict.waiting.map(({ kind, for: what, count }) => [kind, what, count]),
      [
        ['image', 'delivery', 1],
        ['image', 'its row', 1],
        ['person', 'delivery', 2],
        ['post', 'delivery', 1],
        ['post', 'second delivery', 1],
      ],
    );
    t.same(verdict.waiting.at(-1)?.since, long.toISOString());
  });
});

t.test('a check says how far it has come', async (t) => {
  const stores = await openQuietly(t);
  const { account, imaged } = population(stores);
  const ada = await account();
  const posts = await times(5, () => imaged(ada));
  await stores.graph.like(posts.map(({ id }) => ({ person: ada, post: id })));
  const steps: Record<string, { expected: number; seen: number; ended: boolean }> = {};
  let step = { expected: 0, seen: 0, ended: true };
  await verify(stores, {
    repair: false,
    log: quiet,
    pageSize: 2,
    progress: {
      begin(subject, expected) {
        t.ok(step.ended, `${subject} comes alone`);
        step = { expected, seen: 0, ended: false };
        steps[subject] = step;
      },
      advance(by) {
        step.seen += by;
      },
      end() {
        step.ended = true;
      },
    },
  });
  for (const subject of ['posts in the graph', 'stored images', 'images of posts']) {
    t.same(steps[subject], { expected: 5, seen: 5, ended: true }, subject);
  }
  t.ok(step.ended);
});

t.test('what is wrong between two people', async (t) => {
  const problems = (ties: Partial<Edges>, people = [1, 2, 3]) =>
    judge({ ...NO_TIES, ...ties }, people).map(({ rule, example, surplus, keep }) => [rule, example, surplus, keep]);
  const [to2, to1] = [
    { person: 1, friend: 2 },
    { person: 2, friend: 1 },
  ];
  const [ask2, ask1] = [
    { from: 1, to: 2 },
    { from: 2, to: 1 },
  ];
  const pair = 'people 1 and 2';

  t.same(problems({ friendships: [to2, to1], likes: [{ person: 1, post: 1 }], requests: [{ from: 3, to: 1 }] }), []);
  t.same(problems({ friendships: [to2] }), [['bothWays', pair, { ...NO_TIES, friendships: [to2] }, 0]]);
  t.same(problems({ friendships: [to1] }), [['bothWays', pair, { ...NO_TIES, friendships: [to1] }, 0]]);
  t.same(problems({ friendships: [to1] }, [2]), [], 'which is told where the smaller id is looked at');
  t.same(problems({ friendships: [to1, to2], requests: [ask1, ask2] }), [
    ['friendOrRequested', pair, { ...NO_TIES, requests: [ask1, ask2] }, 0],
  ]);
  t.same(problems({ requests: [ask1, ask2] }), [['oneRequest', pair, { ...NO_TIES, requests: [ask1] }, 0]]);
  t.same(problems({ friendships: [to1, to2, to1] }), [['once', pair, { ...NO_TIES, friendships: [to1, to2, to1] }, 1]]);
  t.same(problems({ requests: [ask1, ask1] }), [['once', pair, { ...NO_TIES, requests: [ask1, ask1] }, 1]]);
  const [like, self] = [
    { person: 1, post: 9 },
    { person: 1, friend: 1 },
  ];
  t.same(problems({ likes: [like, { person: 2, post: 9 }, like, like] }), [
    ['once', 'person 1 likes post 9', { ...NO_TIES, likes: [like] }, 1],
  ]);
  t.same(problems({ friendships: [self], requests: [{ from: 3, to: 3 }] }), [
    ['selfless', 'person 1', { ...NO_TIES, friendships: [self] }, 0],
    ['selfless', 'person 3', { ...NO_TIES, requests: [{ from: 3, to: 3 }] }, 0],
  ]);
});
