import { EventEmitter, on, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { beginTransaction, freshIds, needsNeo4j, neo4jUri, openTestGraph } from '../support/neo4j-graph.js';
import { startProxy } from '../support/proxy.js';

const POOL_SIZE = 3;

/** Bolt messages as single chunks: length, structure without fields, tag, end marker. COMMIT is in Latin-1. */
const COMMIT = '\x00\x02\xb0\x12\x00\x00';
const RESET = Buffer.from([0, 2, 0xb0, 0x0f, 0, 0]);

t.test('Neo4j behind a faulty connection', needsNeo4j, async (t) => {
  const ids = freshIds(t);
  /** The graph without a proxy. */
  const graph = openTestGraph(t);
  await graph.migrate();

  /** Opens a graph behind a proxy, with all connections established. `logEvents` emits its log messages as events. */
  async function openBehindProxy(t: Test, timeoutMs = 2000) {
    const proxy = await startProxy(t, neo4jUri, '7687');
    const logEvents = new EventEmitter();
    const log = { warn: () => logEvents.emit('unavailable'), info: () => logEvents.emit('available') };
    const proxied = openTestGraph(t, { uri: proxy.url, poolSize: POOL_SIZE, timeoutMs }, log);
    const read = () => proxied.friendsOfEach([1]);
    await Promise.all(Array.from({ length: POOL_SIZE }, read));
    return { proxy, proxied, read, logEvents };
  }

  t.test('a write whose commit is not answered is not repeated', async (t) => {
    const { proxy, proxied } = await openBehindProxy(t);
    const loseResponse = async (write: () => Promise<unknown>, statement: string) =>
      Promise.all([proxy.cutResponseTo(COMMIT, statement), t.rejects(write(), StoreUnavailableError)]);
    const [user, other, post] = [ids.next(), ids.next(), ids.next()];
    await loseResponse(() => proxied.request(user, other), 'REQUESTED');
    t.strictSame((await graph.bulk.edgesOf([user])).requests, [{ from: user, to: other }]);
    await loseResponse(() => proxied.accept(other, user), 'FRIENDS_WITH');
    await loseResponse(() => proxied.unfriend(user, other), 'FRIENDS_WITH');
    await loseResponse(() => proxied.like([{ person: user, post }]), 'LIKES');
    t.strictSame(await graph.bulk.edgesOf([user]), {
      friendships: [],
      requests: [],
      likes: [{ person: user, post }],
    });
  });

  for (const fault of ['silence', 'refuse'] as const) {
    t.test(`a silent server becomes unavailable, and then available again (new connections: ${fault})`, async (t) => {
      const { proxy, proxied, read, logEvents } = await openBehindProxy(t);
      // Opens a connection for warm-ups, which becomes silent. The warm-up after the outage must not wait for it.
      await proxied.warmUp();
      const unavailable = once(logEvents, 'unavailable');
      // Existing connections stay silent under the second fault, which applies to new ones.
      await proxy.setFault('silence');
      await proxy.setFault(fault);
      await t.rejects(read(), StoreUnavailableError);
      await unavailable;
      // The next call fails without waiting.
      const immediate = await Promise.race([read().catch((error) => error), nextTurn('waited')]);
      t.type(immediate, StoreUnavailableError);
      const available = once(logEvents, 'available');
      await proxy.setFault('none');
      const respondingAt = performance.now();
      await available;
      // A warm-up on a silent connection ends after two minutes.
      t.ok(performance.now() - respondingAt < 60_000, 'the warm-up opens a new connection');
      const post = ids.next();
      await Promise.all([read(), proxied.ensureNodes({ people: [], posts: [post] }), read(), read()]);
      t.strictSame(await graph.bulk.postIds(post - 1, 1), [post]);
    });
  }

  t.test('silent connections are replaced while the server responds to others', async (t) => {
    const { proxy, read, logEvents } = await openBehindProxy(t);
    logEvents.on('unavailable', () => t.fail('the server responds to other connections'));
    await proxy.setFault('half-open');
    await Promise.all(Array.from({ length: POOL_SIZE }, () => t.rejects(read(), StoreUnavailableError)));
    let failures = 0;
    // The driver itself notices only after two minutes.
    while (failures < 20 && (await read().catch(() => undefined)) === undefined) failures += 1;
    await Promise.all(Array.from({ length: POOL_SIZE + 1 }, read));
  });

  t.test('a statement that arrives after its timeout has no effect', async (t) => {
    const { proxy, proxied } = await openBehindProxy(t);
    const [person, post] = [ids.next(), ids.next()];
    await proxy.setFault('hold-requests');
    await t.rejects(proxied.like([{ person, post }]), StoreUnavailableError);
    let delivered = 0;
    for (const { server, held = [] } of proxy.connections) {
      if (held.length === 0) continue;
      delivered += 1;
      const statement = held.filter((bytes) => !bytes.includes(RESET));
      t.ok(Buffer.concat(statement).includes('tx_timeout'), 'the server is asked to enforce the timeout too');
      server.write(Buffer.concat([...statement, Buffer.from(COMMIT, 'latin1')]));
      for await (const [data] of on(server, 'data')) if (data.includes('bookmark')) break;
    }
    t.ok(delivered > 0, 'the statement was delivered');
    t.not((await graph.bulk.postIds(post - 1, 1))[0], post);
  });

  t.test('a slow statement is rolled back, and others succeed', async (t) => {
    const { proxied, logEvents } = await openBehindProxy(t);
    logEvents.on('unavailable', () => t.fail('the server responds to other connections'));
    const [user, other] = [ids.next(), ids.next()];
    await graph.ensureNodes({ people: [user], posts: [] });
    const transaction = await beginTransaction(t);
    await transaction.run('MATCH (p:Person {id: $user}) SET p.id = p.id', { user });
    await t.rejects(proxied.request(user, other), StoreUnavailableError);
    t.strictSame(await proxied.friendsOfEach([user]), [[]]);
    await transaction.commit();
    t.equal(await proxied.request(user, other), 'sent');
  });

  t.test('an unreachable server is unavailable, and the error contains no password', async (t) => {
    const unreachable = openTestGraph(t, { uri: 'bolt://127.0.0.1:1', username: 'neo4j', password: 'Hush-27' });
    const error = await unreachable.migrate().catch((error) => error);
    t.type(error, StoreUnavailableError);
    t.notMatch(`${error.stack} ${error.cause?.stack}`, /Hush-27/);
  });
});
