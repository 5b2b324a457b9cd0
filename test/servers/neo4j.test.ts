import { randomUUID } from 'node:crypto';
import t from 'tap';
import { countLikes } from '../support/consistency.js';
import { freshIds, needsNeo4j, openTestGraph } from '../support/neo4j-graph.js';
import { repeat } from '../support/store-fixtures.js';
import { queryGraph } from '../support/stores.js';

t.test('the graph in Neo4j', needsNeo4j, async (t) => {
  const ids = freshIds(t);
  // Two drivers, like those of two processes.
  const graph = openTestGraph(t);
  const otherGraph = openTestGraph(t);
  await graph.migrate();

  const twoIds = () => [ids.next(), ids.next()] as const;
  const likesOf = async (posts: number[], people: number[]) => {
    const { likes } = await graph.relationsBetween(people, [], posts);
    return posts.map((post) => likes.get(post) ?? { count: 0, likers: [] });
  };
  const count = async (statement: string, id: number) => Number((await queryGraph(statement, { id }))[0]?.count);

  t.test('relationsBetween sends no query if one list of people and the list of posts are empty', async (t) => {
    const unreachable = openTestGraph(t, { uri: 'bolt://127.0.0.1:1' });
    t.strictSame(await unreachable.relationsBetween([], [1], []), { friendships: [], likes: new Map() });
    t.strictSame(await unreachable.relationsBetween([1], [], []), { friendships: [], likes: new Map() });
  });

  t.test('nodes are created once and removed with their edges', async (t) => {
    const [user, other, third] = [ids.next(), ids.next(), ids.next()];
    const post = ids.next();
    const nodes = { people: [user], posts: [post] };
    await Promise.all([graph.ensureNodes(nodes), otherGraph.ensureNodes(nodes)]);
    t.strictSame(await graph.bulk.personIds(user - 1, 1), [user]);
    t.strictSame(await graph.bulk.postIds(post - 1, 1), [post]);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', user), 1);
    await graph.request(user, other);
    await graph.accept(other, user);
    await graph.request(third, user);
    await graph.like([
      { person: user, post },
      { person: other, post },
    ]);
    await graph.removePerson(user);
    await graph.removePerson(user);
    t.strictSame(await graph.bulk.edgesOf([user, other, third]), {
      friendships: [],
      requests: [],
      likes: [{ person: other, post }],
    });
    await graph.removePost(post);
    await graph.removePost(post);
    t.strictSame(await countLikes(graph, [post]), [0]);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', user), 0);
    t.equal(await count('MATCH (p {id: $id}) RETURN count(p) AS count', post), 0);
  });

  t.test('lookups return each user once, even with duplicate edges', async (t) => {
    const [user, other] = twoIds();
    const post = ids.next();
    const once = {
      friendships: [{ person: user, friend: other }],
      requests: [{ from: user, to: other }],
      likes: [{ person: user, post }],
    };
    for (let times = 0; times < 2; times += 1) await graph.bulk.addEdges(once);
    t.strictSame(await graph.bulk.edgesOf([user]), once, 'no edge is added twice');
    await queryGraph(
      `MATCH (user:Person {id: $user}), (other:Person {id: $other}), (post:Post {id: $post})
       CREATE (user)-[:FRIENDS_WITH]->(other), (user)-[:REQUESTED]->(other), (user)-[:LIKES]->(post), (user)-[:LIKES]->(post)`,
      { user, other, post },
    );
    const duplicated = await graph.bulk.edgesOf([user]);
    const counts = [duplicated.friendships.length, duplicated.requests.length, duplicated.likes.length];
    t.strictSame(counts, [2, 2, 3], 'all edges are returned');
    t.strictSame(await graph.friendsOfEach([user]), [[other]]);
    t.strictSame((await likesOf([post], [user]))[0]?.likers, [user], 'each user is a liker once');
    await graph.unlike(once.likes);
    await graph.unfriend(user, other);
    await graph.cancel(user, other);
    const left = await graph.bulk.edgesOf([user]);
    t.strictSame(left, { friendships: [], requests: [], likes: [] }, 'duplicates are removed together');
  });

  t.test('replaces the index that an interrupted creation of a constraint has left behind', async (t) => {
    await queryGraph('DROP CONSTRAINT post_id');
    await queryGraph('CREATE INDEX post_id FOR (post:Post) ON (post.id)');
    await graph.migrate();
    t.same(await queryGraph("SHOW CONSTRAINTS YIELD name, type WHERE name = 'post_id' RETURN type"), [
      { type: 'UNIQUENESS' },
    ]);
  });

  t.test('only the first claim succeeds', async (t) => {
    if ((await graph.claimedBy()) === undefined) t.teardown(() => queryGraph('MATCH (i:Installation) DELETE i'));
    await Promise.all([graph.claim(randomUUID()), otherGraph.claim(randomUUID())]);
    const claimedBy = await graph.claimedBy();
    t.type(claimedBy, 'string');
    await otherGraph.claim(randomUUID());
    t.equal(await graph.claimedBy(), claimedBy);
    const [row] = await queryGraph('MATCH (i:Installation) RETURN count(i) AS count');
    t.equal(Number(row?.count), 1);
  });

  t.test('concurrent likes in any order count once each', async (t) => {
    await repeat(50, async () => {
      const [user, other] = twoIds();
      const [post, another] = [ids.next(), ids.next()];
      const likes = [
        { person: user, post },
        { person: other, post: another },
        { person: user, post: another },
        { person: other, post },
      ];
      await Promise.all([
        graph.like(likes),
        otherGraph.like(likes.toReversed()),
        graph.like(likes),
        otherGraph.like(likes),
      ]);
      t.equal((await graph.bulk.edgesOf([user, other])).likes.length, 4);
      await Promise.all([graph.unlike(likes), otherGraph.unlike(likes.toReversed())]);
      t.strictSame(await countLikes(graph, [post, another]), [0, 0]);
    });
  });

  t.test('concurrent likes and removals do not fail, and the next removal leaves nothing', async (t) => {
    await repeat(50, async () => {
      const [user, other] = twoIds();
      const post = ids.next();
      const likes = [
        { person: user, post },
        { person: other, post },
      ];
      await graph.like(likes);
      await Promise.all([
        otherGraph.like(likes),
        graph.removePost(post),
        otherGraph.unlike(likes),
        graph.like(likes),
        otherGraph.removePerson(user),
        graph.unlike(likes),
        otherGraph.removePost(post),
        graph.like(likes),
      ]);
      await Promise.all([graph.removePost(post), otherGraph.removePost(post)]);
      t.strictSame(await graph.bulk.edgesOf([user, other]), { friendships: [], requests: [], likes: [] });
    });
  });
});
