import { randomBytes } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { decodeProtectedHeader } from 'jose';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { observedGraph } from '../db/graph/observed.js';
import { diskImages } from '../db/images/disk.js';
import { observedImages } from '../db/images/observed.js';
import { readTotals } from '../db/stores/totals.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { type CallOutcome, noopObserver, type Observer } from '../db/support/observer.js';
import { createMetrics } from '../handlers/metrics/index.js';
import { HASH_CONCURRENCY, hashQueue } from '../handlers/security/password-hashing.js';
import { contract } from '../scripts/contract-test/client/index.js';
import { Exposition, scrape } from './support/prometheus.js';
import { createPost, picture, startTestService } from './support/service.js';
import { onServices, temporaryDirectory } from './support/stores.js';
import { until } from './support/until.js';

const service = await startTestService(t);

/** Runs an action. Returns a function that returns how much a metric has increased during it. */
async function measureIncrease(action: () => Promise<unknown>) {
  const before = await scrape(service.opsUrl);
  await action();
  const after = await scrape(service.opsUrl);
  return (name: string, labels: Record<string, string> = {}) =>
    (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
}

function createTestMetrics(t: Test) {
  const metrics = createMetrics();
  t.teardown(metrics.close);
  return { ...metrics, read: async () => new Exposition(await metrics.text()) };
}

const NO_TOTALS = { accounts: 0, posts: 0, sessions: 0, imageBytes: 0, operatorActions: 0 };

/** Sources of the metrics of stores, for tests without stores. */
const noStores = {
  pools: () => ({}),
  readStates: async () => ({}),
  backlog: async () => [],
  totals: async () => NO_TOTALS,
  freeBytes: async () => 0,
};

t.test('responds in the Prometheus text format, with metrics of the process, its version, key and disk', async (t) => {
  const response = await fetch(`${service.opsUrl}/metrics`);
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const exposition = new Exposition(await response.text());
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'nodejs_heap_size_used_bytes']) {
    t.type(exposition.value(name), 'number', name);
  }
  t.ok(exposition.types.has('nodejs_gc_duration_seconds'));
  t.equal(exposition.value('quota_refusals_total', { quota: 'storage' }), 0, 'the counter starts at zero');
  const { bavail, bsize } = await statfs(service.stores.directory.root);
  const free = exposition.value('data_directory_free_bytes') ?? 0;
  t.ok(Math.abs(free - bavail * bsize) < 2 ** 30, `${free} bytes are free`);
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  t.equal(exposition.value('build_info', { version }), 1);
  const { token } = await service.createUser();
  t.equal(exposition.value('signing_key_info', { kid: String(decodeProtectedHeader(token).kid) }), 1);
});

t.test('reports the numbers of accounts, posts and sessions, and the size of images', async (t) => {
  const { db } = service.stores;
  const user = await service.createUser();
  await createPost(user, { image: picture() });
  const exposition = await scrape(service.opsUrl);
  for (const table of ['accounts', 'posts', 'sessions'] as const) {
    const { count } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    t.equal(exposition.value(`stored_${table}`), count, table);
  }
  t.equal(exposition.value('stored_image_bytes'), picture().size);

  await sql`vacuum (analyze)`.execute(db);
  const exact = await readTotals(db);
  t.match(await readTotals(db, 1), { ...exact, imageBytes: Number }, 'an estimate is the number at the last ANALYZE');
});

t.test('reports the sizes of embedded stores, and only of those', async (t) => {
  const text = await (await fetch(`${service.opsUrl}/metrics`)).text();
  if (onServices) return t.notMatch(text, /^embedded_/m);
  const exposition = new Exposition(text);
  for (const name of ['database_bytes', 'wal_bytes'])
    t.ok(Number(exposition.value(`embedded_${name}`)) > 2 ** 20, name);
  for (const name of ['dead_rows', 'last_vacuum_timestamp_seconds'])
    t.type(exposition.value(`embedded_${name}`), 'number', name);
});

t.test('reports whether each store is available, and the connection pools', async (t) => {
  const exposition = await scrape(service.opsUrl);
  for (const store of ['postgres', 'graph', 'images'])
    t.equal(exposition.value('store_available', { store }), 1, store);
  for (const pool of Object.keys(service.stores.pools())) {
    t.type(exposition.value('postgres_pool_connections', { pool, state: 'used' }), 'number', pool);
    t.type(exposition.value('postgres_pool_waiting', { pool }), 'number', pool);
  }
});

t.test('requests are counted by operation and status', async (t) => {
  const user = await service.createUser();
  const post = await createPost(user);
  const startedAt = performance.now();
  const increase = await measureIncrease(async () => {
    await user.send('GET', `/posts/${post.id}`);
    await user.send('GET', `/posts/${post.id}`);
    await user.send('HEAD', `/posts/${post.id}`);
    await user.send('GET', '/posts/999999999');
    await service.send('GET', '/posts/1');
    for (const path of ['/nope', '/posts/1/comments', '/%ff']) await user.send('GET', path);
    await user.send('PATCH', '/posts');
    await service.send('GET', '/openapi.yaml');
  });
  const requests = (operation: string, status: string) => increase('http_requests_total', { operation, status });
  t.same([requests('getPost', '200'), requests('getPost', '404'), requests('getPost', '401')], [3, 1, 1]);
  t.same(
    ['200', '400', '404', '405'].map((status) => requests('none', status)),
    [1, 1, 2, 1],
  );
  t.equal(increase('http_requests_total'), 10);
  t.equal(increase('http_request_duration_seconds_count', { operation: 'getPost' }), 5);
  const seconds = increase('http_request_duration_seconds_sum', { operation: 'getPost' });
  t.ok(seconds > 0 && seconds <= (performance.now() - startedAt) / 1000, `${seconds} seconds`);
});

t.test('calls to the stores are counted by verb', async (t) => {
  const user = await service.createUser();
  const increase = await measureIncrease(async () => {
    const post = await createPost(user, { image: picture() });
    await user.send('GET', post.image ?? '');
    await user.send('POST', `/posts/like?id=${post.id}`);
    await user.send('GET', `/posts/${post.id}`);
  });
  const calls = (store: string, verb: string) =>
    increase('store_call_duration_seconds_count', { store, verb, outcome: 'ok' });
  t.equal(calls('images', 'put'), 1);
  t.equal(calls('images', 'get'), 1);
  t.equal(calls('graph', 'like'), 1, 'also within a transaction');
  t.equal(calls('graph', 'relationsBetween'), 1);
});

t.test('reports the outcome of each store call, and rejects calls before the store is verified', async (t) => {
  const calls: [verb: string, outcome: CallOutcome][] = [];
  const observer: Observer = {
    ...noopObserver,
    storeCall: (_store, verb, _seconds, outcome) => void calls.push([verb, outcome]),
  };
  const gate = { allowsCalls: true };
  const images = observedImages(diskImages(await temporaryDirectory(t)), observer, gate);
  t.equal(await images.get('none.png'), undefined);
  await t.rejects(observedImages(diskImages('/nowhere'), observer, gate).get('none.png'));
  const graph = observedGraph(service.stores.graph, observer, gate);
  await t.rejects(graph.friendsOfEach(null as never));
  await service.stores.db.transaction().execute((trx) => graph.within(trx).friendsOfEach([1]));
  gate.allowsCalls = false;
  await t.rejects(images.get('none.png'), StoreUnavailableError);
  await service.stores.db.transaction().execute(async (trx) => {
    await t.rejects(graph.within(trx).friendsOfEach([1]), StoreUnavailableError);
  });
  t.same(calls, [
    ['get', 'ok'],
    ['get', 'unavailable'],
    ['friendsOfEach', 'error'],
    ['friendsOfEach', 'ok'],
    ['get', 'unavailable'],
    ['friendsOfEach', 'unavailable'],
  ]);
});

t.test('batch sizes are reported by batch', async (t) => {
  const user = await service.createUser();
  const increase = await measureIncrease(() =>
    Promise.all(Array.from({ length: 20 }, () => user.send('GET', '/auth/me'))),
  );
  t.equal(increase('batch_size_sum', { batch: 'session' }), 20);
  const batches = increase('batch_size_count', { batch: 'session' });
  t.ok(batches >= 1 && batches <= 20, `${batches} batches`);
  const post = await createPost(user);
  const like = await measureIncrease(() => user.send('POST', `/posts/like?id=${post.id}`));
  t.equal(like('batch_size_sum', { batch: 'setLike' }), 1);
  const deletion = await measureIncrease(() => user.send('DELETE', `/posts/delete?id=${post.id}`));
  // The relay may deliver the entry too.
  t.ok(deletion('batch_size_sum', { batch: 'deliverNode' }) >= 1);
});

t.test('reports waiting and overdue outbox entries and the age of the oldest overdue one', async (t) => {
  const { db } = service.stores;
  const key = `metrics-${randomBytes(8).toString('hex')}`;
  const read = async (kind: string) => {
    const exposition = await scrape(service.opsUrl);
    return ['outbox_waiting', 'outbox_overdue', 'outbox_oldest_age_seconds'].map((name) =>
      exposition.value(name, { kind }),
    );
  };
  await until(async () => (await read('person'))[0] === 0 && (await read('post'))[0] === 0);
  await sql`
    insert into outbox (kind, key, due_at, attempts, created_at) values
      ('person', ${key}, now() + interval '1 hour', 3, now() - interval '100 seconds'),
      ('person', ${key}, now() + interval '1 hour', 0, now() - interval '7000 seconds'),
      ('post', ${key}, now() + interval '1 hour', 0, now())`.execute(db);
  const [waiting, overdue, ageSeconds = 0] = await read('person');
  t.same([waiting, overdue], [2, 1], 'an entry whose delivery has failed is overdue');
  t.ok(ageSeconds >= 100 && ageSeconds < 1000);
  t.same(await read('post'), [1, 0, 0]);
  t.same(await read('image'), [0, 0, 0]);
  await db.deleteFrom('outbox').where('key', '=', key).execute();
  t.same(await read('person'), [0, 0, 0]);
});

t.test('responds with the other metrics while PostgreSQL is unavailable', async (t) => {
  const metrics = createTestMetrics(t);
  const pools = () => ({ main: { total: 3, idle: 1, waiting: 4 } });
  const backlogs = [
    async () => [{ kind: 'post' as const, waiting: 7, overdue: 1, ageSeconds: 9 }],
    () => Promise.reject(new Error('unavailable')),
    () => new Promise<never>(() => undefined),
  ];
  let [backlog = async () => []] = backlogs;
  metrics.watchStores({
    ...noStores,
    pools,
    backlog: () => backlog(),
    freeBytes: async () => (await backlog()).length,
  });
  for (backlog of backlogs) {
    const exposition = await metrics.read();
    t.equal(exposition.value('outbox_waiting'), backlog === backlogs[0] ? 7 : undefined, 'no stale value remains');
    t.equal(exposition.value('data_directory_free_bytes'), backlog === backlogs[0] ? 1 : undefined);
    t.equal(exposition.value('postgres_pool_connections', { pool: 'main', state: 'idle' }), 1);
    t.equal(exposition.value('postgres_pool_connections', { pool: 'main', state: 'used' }), 2);
    t.equal(exposition.value('postgres_pool_waiting', { pool: 'main' }), 4);
  }
});

t.test('reports connections and large responses', async (t) => {
  const metrics = createTestMetrics(t);
  metrics.watchConnections({
    connections: new Set(['one', 'two']),
    responses: [
      { running: 3, waiting: 11, refused: 4 },
      { running: 4, waiting: 0, refused: 9 },
    ],
  });
  for (const read of ['first', 'second']) {
    const exposition = await metrics.read();
    t.equal(exposition.value('http_connections'), 2, read);
    t.equal(exposition.value('http_large_response_bytes', { state: 'unsent' }), 7);
    t.equal(exposition.value('http_large_response_bytes', { state: 'waiting' }), 11);
    t.equal(exposition.value('http_large_responses_refused_total'), 13);
  }
});

t.test('reports running and waiting password hashes', async (t) => {
  const metrics = createTestMetrics(t);
  const readHashes = async () => {
    const exposition = await metrics.read();
    return ['running', 'waiting'].map((state) => exposition.value('password_hashes', { state }));
  };
  t.same(await readHashes(), [0, 0]);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  t.teardown(() => end());
  const run = () => hashQueue.run({ lane: 'unauthenticated' }, () => ended);
  const jobs = Array.from({ length: HASH_CONCURRENCY + 1 }, run);
  t.same(await readHashes(), [HASH_CONCURRENCY, 1]);
  end();
  await Promise.all(jobs);
  t.same(await readHashes(), [0, 0]);
});

t.test('labels are names from the code and the contract; user input creates no series', async (t) => {
  const user = await service.createUser({ name: 'Ada Unmistakable' });
  const post = await createPost(user, { title: 'Unmistakable', image: picture() });
  const sendRequestsWith = async (salt: string) => {
    await user.send('GET', post.image ?? '');
    await user.send('GET', `/profiles/${user.id}`);
    await user.send('GET', `/posts/image/${salt}.png`);
    await user.send('GET', `/${salt}`);
    await user.send('GET', `/posts?limit=7&${salt}=1`);
    await service.send('GET', '/posts', { token: salt, headers: { 'User-Agent': salt } });
  };
  await sendRequestsWith('unmistakable');
  const countOwnSamples = ({ samples }: Exposition) =>
    samples.filter(({ name }) => /^(http|store|batch)_/.test(name)).length;
  const before = countOwnSamples(await scrape(service.opsUrl));
  for (let round = 0; round < 5; round += 1) await sendRequestsWith(randomBytes(8).toString('hex'));
  const response = await fetch(`${service.opsUrl}/metrics`);
  const text = await response.text();
  const exposition = new Exposition(text);
  t.equal(countOwnSamples(exposition), before);

  const operations = ['none', ...contract.map(({ id }) => id)];
  const expected: Record<string, RegExp> = {
    operation: new RegExp(`^(${operations.join('|')})$`),
    status: /^[2-5]\d\d$/,
    store: /^(postgres|graph|images|redis)$/,
    ...Object.fromEntries(['verb', 'batch', 'kind'].map((label) => [label, /^[a-zA-Z]+$/])),
  };
  for (const { name, labels } of exposition.samples) {
    for (const [label, value] of Object.entries(labels))
      if (expected[label]?.test(value) === false) t.fail(name, { labels });
  }
  for (const secret of [/unmistakable/i, user.username, user.email, user.token, '.png', '/posts', '127.0.0.1']) {
    t.notMatch(text, secret);
  }
});
