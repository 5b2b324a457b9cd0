import { randomUUID } from 'node:crypto';
import t from 'tap';
import { countLikes } from '../support/contents.js';
import { freshIds, needsNeo4j, openTestGraph } from '../support/neo4j-graph.js';
import { inGraph } from '../support/stores.js';

t.test('the graph in Neo4j', needsNeo4j, async (t) => {
  const ids = freshIds(t);
  /** As two processes have it. */
  const graph = openTestGraph(t);
  const other = openTestGraph(t);
  await graph.migrate();

  const people = () => [ids.next(), ids.next()] as const;
  const rounds = async (times: number, round: () => Promise<void>) => {
    for (let done = 0; done < times; done += 1) await round();
  };
  const bothWays = (a: number, b: number) => [
    { person: a, friend: b },
    { person: b, friend: a },
  ];
  const byPerson = <Tie extends { person: number }>(ties: Tie[]) => ties.toSorted((a, b) => a.person - b.person);
  const likesOf = async (posts: number[], people: number[]) => {
    const { likes } = await graph.relationsBetween(people, [], posts);
    return posts.map((post) => likes.get(post) ?? { count: 0, likers: [] });
  };
  const friendsAmong = async (people: number[], others: number[]) =>
    (await graph.relationsBetween(people, others, [])).friendships;
  const count = async (pattern: string, id: number) => Number((await inGraph(pattern, { id }))[0]?.count);

  t.test('likes are counted, found and taken back, each once', async (t) => {
    const [ada, bob] = people();
    const [post, another, unknown] = [ids.next(), ids.next(), ids.next()];
    const likes = [
      { person: bob, post },
      { person: ada, post: another },
      { person: ada, post },
    ];
    await graph.like([...likes, { person: ada, post }]);
    await graph.like([{ person: ada, post }]);
    t.strictSame(await countLikes(graph, [unknown, post, another, post]), [0, 2, 1, 2], 'in the order of the posts');
    t.strictSame(await likesOf([unknown, another, post], [ada, unknown]), [
      { count: 0, likers: [] },
      { count: 1, likers: [ada] },
      { count: 2, likers: [ada] },
    ]);
    t.strictSame(new Set((await likesOf([post], [ada, bob]))[0]?.likers), new Set([ada, bob]));
    await graph.unlike([
      { person: ada, post },
      { person: ada, post },
      { person: bob, post: unknown },
    ]);
    t.strictSame(await likesOf([post], [ada, bob]), [{ count: 1, likers: [bob] }]);
  });

  t.test('who likes a post that thousands like is found among them', async (t) => {
    const [ada, bob] = people();
    const [popular, another] = [ids.next(), ids.next()];
    const crowd = Array.from({ length: 1200 }, () => ids.next());
    await graph.like([...crowd, ada].map((person) => ({ person, post: popular })));
    await graph.like([{ person: bob, post: another }]);
    t.strictSame(await likesOf([another, popular], [bob, ada]), [
      { count: 1, likers: [bob] },
      { count: 1201, likers: [ada] },
    ]);
    t.strictSame(await likesOf([popular], [bob]), [{ count: 1201, likers: [] }]);
    t.strictSame(await likesOf([popular], []), [{ count: 1201, likers: [] }]);
  });

  t.test('a friendship is asked for, accepted and ended', async (t) => {
    const [ada, bob] = people();
    t.equal(await graph.request(ada, bob), 'sent');
    t.equal(await graph.request(ada, bob), 'pending');
    t.equal(await graph.request(bob, ada), 'pending');
    t.strictSame(await graph.requestersOf(bob), [ada]);
    t.strictSame(await graph.requestersOf(ada), []);
    t.equal(await graph.accept(ada, bob), false, 'not by who has asked');
    t.equal(await graph.accept(bob, ada), true);
    t.equal(await graph.accept(bob, ada), false);
    t.strictSame(await graph.requestersOf(bob), []);
    t.strictSame([await graph.friendsOf(ada), await graph.friendsOf(bob)], [[bob], [ada]]);
    t.strictSame(await graph.friendsOfEach([bob, ids.next(), ada]), [[ada], [], [bob]], 'in the order of the people');
    t.strictSame(await friendsAmong([ada], [bob, ada, ids.next()]), [{ person: ada, friend: bob }]);
    t.strictSame(await friendsAmong([ids.next(), ada, bob], [bob]), [{ person: ada, friend: bob }]);
    t.equal(await graph.request(bob, ada), 'friends');
    t.equal(await graph.unfriend(bob, ada), true);
    t.equal(await graph.unfriend(ada, bob), false);
    t.strictSame(await graph.snapshot.edgesOf([ada, bob]), { friendships: [], requests: [], likes: [] });
  });

  t.test('a request is declined by one and cancelled by the other', async (t) => {
    const [ada, bob] = people();
    await graph.request(ada, bob);
    t.equal(await graph.decline(ada, bob), false);
    t.equal(await graph.cancel(bob, ada), false);
    t.equal(await graph.decline(bob, ada), true);
    t.equal(await graph.request(bob, ada), 'sent');
    t.equal(await graph.cancel(bob, ada), true);
    t.equal(await graph.cancel(bob, ada), false);
    t.equal(await graph.unfriend(ada, bob), false);
  });

  t.test('nothing is asked about nobody and nothing', async (t) => {
    const nowhere = openTestGraph(t, { uri: 'bolt://127.0.0.1:1' });
    t.strictSame(await nowhere.relationsBetween([], [1], []), { friendships: [], likes: new Map() });
    t.strictSame(await nowhere.relationsBetween([1], [], []), { friendships: [], likes: new Map() });
    await nowhere.like([]);
    await nowhere.unlike([]);
  });

  t.test('nodes are kept once and removed with their ties', async (t) => {
    const [ada, bob, cyd] = [ids.next(), ids.next(), ids.next()];
    const post = ids.next();
    await Promise.all([
      graph.ensureNodes({ people: [ada], posts: [] }),
      other.ensureNodes({ people: [ada], posts: [] }),
      graph.ensureNodes({ people: [], posts: [post] }),
      other.ensureNodes({ people: [], posts: [post] }),
    ]);
    t.strictSame(await graph.snapshot.personIds(ada - 1, 1), [ada]);
    t.strictSame(await graph.snapshot.postIds(post - 1, 1), [post]);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', ada), 1);
    await graph.request(ada, bob);
    await graph.accept(bob, ada);
    await graph.request(cyd, ada);
    await graph.like([
      { person: ada, post },
      { person: bob, post },
    ]);
    await graph.removePerson(ada);
    await graph.removePerson(ada);
    t.strictSame(await graph.snapshot.edgesOf([ada, bob, cyd]), {
      friendships: [],
      requests: [],
      likes: [{ person: bob, post }],
    });
    await graph.removePost(post);
    await graph.removePost(post);
    t.strictSame(await countLikes(graph, [post]), [0]);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', ada), 0);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', post), 0);
  });

  t.test('the inventory pages by id, and adds and takes ties one by one', async (t) => {
    const [ada, bob, cyd] = [ids.next(), ids.next(), ids.next()];
    const [post, last] = [ids.next(), ids.next()];
    const ties = {
      friendships: bothWays(ada, bob),
      requests: [{ from: cyd, to: ada }],
      likes: [{ person: ada, post }],
    };
    await graph.snapshot.addEdges(ties);
    await graph.snapshot.addEdges(ties);
    await graph.ensureNodes({ people: [], posts: [last] });
    t.strictSame(await graph.snapshot.personIds(ada - 1, 2), [ada, bob]);
    t.strictSame(await graph.snapshot.personIds(bob, 1), [cyd]);
    t.strictSame(await graph.snapshot.postIds(post - 1, 2), [post, last]);
    const { friendships, ...others } = await graph.snapshot.edgesOf([ada, bob]);
    t.strictSame({ friendships: byPerson(friendships), ...others }, ties, 'none of them twice');
    t.strictSame((await graph.snapshot.edgesOf([cyd])).requests, ties.requests);

    await graph.snapshot.removeEdges({ friendships: bothWays(ada, bob).slice(0, 1), requests: [], likes: [] });
    t.strictSame((await graph.snapshot.edgesOf([ada])).friendships, [{ person: bob, friend: ada }]);
    await graph.snapshot.removeEdges({ friendships: [], requests: ties.requests, likes: ties.likes });
    t.strictSame(await graph.snapshot.edgesOf([ada]), {
      friendships: [{ person: bob, friend: ada }],
      requests: [],
      likes: [],
    });
    const highest = await graph.highestIds();
    t.ok(highest.person >= cyd && highest.post >= last);
  });

  t.test('of several ties alike one is kept, whoever asks', async (t) => {
    const [ada, bob] = people();
    const post = ids.next();
    const once = {
      friendships: [{ person: ada, friend: bob }],
      requests: [{ from: ada, to: bob }],
      likes: [{ person: ada, post }],
    };
    await graph.snapshot.addEdges(once);
    await inGraph(
      `MATCH (ada:Person {id: $ada}), (bob:Person {id: $bob}), (post:Post {id: $post})
       CREATE (ada)-[:FRIENDS_WITH]->(bob), (ada)-[:REQUESTED]->(bob), (ada)-[:LIKES]->(post), (ada)-[:LIKES]->(post)`,
      { ada, bob, post },
    );
    const doubled = await graph.snapshot.edgesOf([ada]);
    t.strictSame(
      [doubled.friendships.length, doubled.requests.length, doubled.likes.length],
      [2, 2, 3],
      'all of them are seen',
    );
    t.strictSame(await graph.friendsOf(ada), [bob]);
    t.strictSame((await likesOf([post], [ada]))[0]?.likers, [ada], 'and once among the likers');
    await Promise.all([graph.snapshot.removeEdges(doubled, 1), other.snapshot.removeEdges(doubled, 1)]);
    t.strictSame(await graph.snapshot.edgesOf([ada]), once);
  });

  t.test('ten migrations at once leave the constraints that keep nodes single', async (t) => {
    const id = ids.next();
    await Promise.all(Array.from({ length: 10 }, () => openTestGraph(t).migrate()));
    await t.rejects(inGraph('CREATE (:Person {id: $id}), (:Person {id: $id})', { id }));
    await t.rejects(inGraph('CREATE (:Post {id: $id}), (:Post {id: $id})', { id }));
  });

  t.test('a graph is owned by whoever marks it first', async (t) => {
    if ((await graph.claimedBy()) === undefined) t.teardown(() => inGraph('MATCH (i:Installation) DELETE i'));
    await Promise.all([graph.claim(randomUUID()), other.claim(randomUUID())]);
    const owner = await graph.claimedBy();
    t.type(owner, 'string');
    await other.claim(randomUUID());
    await other.claim(randomUUID(), randomUUID());
    t.equal(await graph.claimedBy(), owner);
    const heir = randomUUID();
    await other.claim(heir, owner);
    t.equal(await graph.claimedBy(), heir, 'but for whoever knows whose it was');
    await other.claim(owner ?? '', heir);
    const [row] = await inGraph('MATCH (i:Installation) RETURN count(i) AS count');
    t.equal(Number(row?.count), 1);
  });

  t.test('two who ask each other at once have one request', async (t) => {
    await rounds(50, async () => {
      const [ada, bob] = people();
      const outcomes = await Promise.all([graph.request(ada, bob), other.request(bob, ada)]);
      t.strictSame(outcomes.toSorted(), ['pending', 'sent']);
      t.equal((await graph.snapshot.edgesOf([ada])).requests.length, 1);
    });
  });

  t.test('two acceptances at once make one friendship', async (t) => {
    await rounds(50, async () => {
      const [ada, bob] = people();
      await graph.request(ada, bob);
      const outcomes = await Promise.all([graph.accept(bob, ada), other.accept(bob, ada)]);
      t.strictSame(outcomes.toSorted(), [false, true]);
      const ties = await graph.snapshot.edgesOf([ada]);
      t.strictSame(byPerson(ties.friendships), bothWays(ada, bob));
      t.strictSame(ties.requests, []);
    });
  });

  t.test('of an acceptance and a cancellation at once one wins', async (t) => {
    await rounds(50, async () => {
      const [ada, bob] = people();
      await graph.request(ada, bob);
      const [accepted, cancelled] = await Promise.all([graph.accept(bob, ada), other.cancel(ada, bob)]);
      t.not(accepted, cancelled);
      const ties = await graph.snapshot.edgesOf([ada]);
      t.equal(ties.friendships.length, accepted ? 2 : 0);
      t.strictSame(ties.requests, []);
    });
  });

  t.test('likes at once are one like each, in whatever order they come', async (t) => {
    await rounds(50, async () => {
      const [ada, bob] = people();
      const [post, another] = [ids.next(), ids.next()];
      const likes = [
        { person: ada, post },
        { person: bob, post: another },
        { person: ada, post: another },
        { person: bob, post },
      ];
      await Promise.all([graph.like(likes), other.like(likes.toReversed()), graph.like(likes), other.like(likes)]);
      t.equal((await graph.snapshot.edgesOf([ada, bob])).likes.length, 4);
      await Promise.all([graph.unlike(likes), other.unlike(likes.toReversed())]);
      t.strictSame(await countLikes(graph, [post, another]), [0, 0]);
    });
  });

  t.test('likes that cross removals are gone after the next one, and nobody stumbles', async (t) => {
    await rounds(50, async () => {
      const [ada, bob] = people();
      const post = ids.next();
      const likes = [
        { person: ada, post },
        { person: bob, post },
      ];
      await graph.like(likes);
      await Promise.all([
        other.like(likes),
        graph.removePost(post),
        other.unlike(likes),
        graph.like(likes),
        other.removePerson(ada),
        graph.unlike(likes),
        other.removePost(post),
        graph.like(likes),
      ]);
      await Promise.all([graph.removePost(post), other.removePost(post)]);
      t.strictSame(await graph.snapshot.edgesOf([ada, bob]), { friendships: [], requests: [], likes: [] });
    });
  });
});
