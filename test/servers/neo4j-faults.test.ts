import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import neo4j from 'neo4j-driver';
import t, { type Test } from 'tap';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { openBoltProxy } from '../support/bolt-proxy.js';
import { countLikes } from '../support/contents.js';
import { freshIds, needsNeo4j, neo4jUri, openTestGraph } from '../support/neo4j-graph.js';
import { inGraph } from '../support/stores.js';

const POOL_SIZE = 3;

t.test('Neo4j behind a line that breaks', needsNeo4j, async (t) => {
  const ids = freshIds(t);
  /** Sees what is there, by a line of its own. */
  const graph = openTestGraph(t);
  await graph.migrate();

  /** A graph behind a proxy, with all its connections made. What its log says comes as events. */
  async function openBehindProxy(t: Test, timeout = 2000) {
    const proxy = await openBoltProxy(t, neo4jUri);
    const said = new EventEmitter();
    const log = { warn: () => said.emit('away'), info: () => said.emit('back') };
    const far = openTestGraph(t, { uri: proxy.uri, poolSize: POOL_SIZE, timeout }, log);
    await Promise.all(Array.from({ length: POOL_SIZE }, () => far.friendsOf(1)));
    return { proxy, far, said };
  }

  t.test('a transition whose answer is lost knows its own work', async (t) => {
    const { proxy, far } = await openBehindProxy(t);
    async function cut<Outcome>(transition: () => Promise<Outcome>): Promise<Outcome> {
      proxy.cutCommitOf = 'CREATE (:Attempt';
      const outcome = await transition();
      t.equal(proxy.cutCommitOf, undefined, 'its line was cut');
      return outcome;
    }
    for (let round = 0; round < 4; round += 1) {
      const [ada, bob] = [ids.next(), ids.next()];
      t.equal(await cut(() => far.request(ada, bob)), 'sent');
      t.equal(await cut(() => far.accept(bob, ada)), true);
      t.equal(await cut(() => far.unfriend(ada, bob)), true);
      t.equal(await cut(() => far.request(bob, ada)), 'sent');
      t.equal(await cut(() => far.cancel(bob, ada)), true);
      t.strictSame(await graph.snapshot.edgesOf([ada, bob]), { friendships: [], requests: [], likes: [] });
    }
  });

  t.test('a like whose answer is lost is one like', async (t) => {
    const { proxy, far } = await openBehindProxy(t);
    const like = { person: ids.next(), post: ids.next() };
    proxy.cutCommitOf = 'LIKES';
    await far.like([like]);
    t.equal(proxy.cutCommitOf, undefined, 'its line was cut');
    t.strictSame((await graph.snapshot.edgesOf([like.person])).likes, [like]);
  });

  for (const fault of ['silence', 'refusal'] as const) {
    t.test(`a server that falls silent is given up, and found again after ${fault} to new connections`, async (t) => {
      const { proxy, far, said } = await openBehindProxy(t);
      const away = once(said, 'away');
      proxy.strike('silence');
      proxy.next = fault;
      await t.rejects(far.friendsOf(1), StoreUnavailableError);
      await away;
      const atOnce = await Promise.race([far.friendsOf(1).catch((error) => error), nextTurn('waited')]);
      t.type(atOnce, StoreUnavailableError);
      const back = once(said, 'back');
      proxy.next = undefined;
      await back;
      const post = ids.next();
      await Promise.all([
        far.friendsOf(1),
        far.ensureNodes({ people: [], posts: [post] }),
        far.friendsOf(1),
        far.friendsOf(1),
      ]);
      t.strictSame(await graph.snapshot.postIds(post - 1, 1), [post]);
    });
  }

  t.test('connections that fall silent are replaced, though the server answers others', async (t) => {
    const { proxy, far, said } = await openBehindProxy(t);
    said.on('away', () => t.fail('the server does answer'));
    proxy.strike('silence');
    await Promise.all(Array.from({ length: POOL_SIZE }, () => t.rejects(far.friendsOf(1), StoreUnavailableError)));
    let failures = 0;
    // The driver itself would notice after two minutes.
    while (failures < 20 && (await far.friendsOf(1).catch(() => undefined)) === undefined) failures += 1;
    await Promise.all(Array.from({ length: POOL_SIZE + 1 }, () => far.friendsOf(1)));
  });

  t.test('what is late on its way changes nothing any more', async (t) => {
    const { proxy, far } = await openBehindProxy(t);
    const post = ids.next();
    proxy.strike('delay');
    await t.rejects(far.ensureNodes({ people: [], posts: [post] }), StoreUnavailableError);
    await proxy.deliver();
    t.not((await graph.snapshot.postIds(post - 1, 1))[0], post);
  });

  t.test('a statement that is slow is given up whole, and others go on', async (t) => {
    const { far, said } = await openBehindProxy(t);
    said.on('away', () => t.fail('the server does answer'));
    const [ada, bob] = [ids.next(), ids.next()];
    await graph.ensureNodes({ people: [ada], posts: [] });
    const driver = neo4j.driver(
      neo4jUri,
      neo4j.auth.basic(process.env.NEO4J_USERNAME ?? '', process.env.NEO4J_PASSWORD ?? ''),
    );
    t.teardown(() => driver.close());
    const transaction = await driver.session().beginTransaction();
    await transaction.run('MATCH (p:Person {id: $ada}) SET p.id = p.id', { ada });
    await t.rejects(far.request(ada, bob), StoreUnavailableError);
    t.strictSame(await far.friendsOf(ada), []);
    await transaction.commit();
    t.equal(await far.request(ada, bob), 'sent');
  });

  t.test('a big removal is several small ones', async (t) => {
    const { proxy, far } = await openBehindProxy(t, 5000);
    const [post, popular] = [ids.next(), ids.next()];
    const many = Array.from({ length: 10_001 }, () => ids.next());
    await inGraph(
      `MERGE (popular:Person {id: toInteger($popular)}) MERGE (post:Post {id: toInteger($post)})
       WITH popular, post UNWIND $many AS id
       CREATE (p:Person {id: toInteger(id)})-[:LIKES]->(post), (p)-[:FRIENDS_WITH]->(popular), (popular)-[:FRIENDS_WITH]->(p)`,
      { many, post, popular },
    );
    proxy.commits = 0;
    await far.removePost(post);
    t.equal(proxy.commits, 3, 'two chunks and the node');
    proxy.commits = 0;
    await far.removePerson(popular);
    t.equal(proxy.commits, 4, 'three chunks and the node');
    t.strictSame(await countLikes(graph, [post]), [0]);
    t.strictSame(await graph.snapshot.edgesOf([popular, ...many.slice(0, 10)]), {
      friendships: [],
      requests: [],
      likes: [],
    });
  });

  t.test('a server that is not there is unavailable, and no password is told', async (t) => {
    const nowhere = openTestGraph(t, { uri: 'bolt://127.0.0.1:1', username: 'neo4j', password: 'Hush-27' });
    const error = await nowhere.migrate().catch((error) => error);
    t.type(error, StoreUnavailableError);
    t.notMatch(`${error.stack} ${error.cause?.stack}`, /Hush-27/);
  });
});
