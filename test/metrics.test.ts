import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import t from 'tap';
import { diskImages } from '../db/images/disk.js';
import type { Outcome } from '../db/support/observer.js';
import { withMetrics } from '../db/support/with-metrics.js';
import { createMetrics } from '../handlers/http/metrics.js';
import { hashPassword } from '../handlers/security/password-hashing.js';
import { contract } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import { Exposition } from './support/prometheus.js';
import { createPost, startTestService } from './support/service.js';
import { onServices, temporaryDirectory } from './support/stores.js';

const service = await startTestService(t);

async function scrape(): Promise<Exposition> {
  return new Exposition(await (await fetch(`${service.opsUrl}/metrics`)).text());
}

/** By how much a value has risen while `during` ran: what others have asked before is not counted. */
async function rise(during: () => Promise<unknown>) {
  const before = await scrape();
  await during();
  const after = await scrape();
  return (name: string, labels: Record<string, string> = {}) =>
    (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
}

const image = () => new Blob([samples.png], { type: 'image/png' });

t.test('the answer is in the text format, with the process in it', async (t) => {
  const answer = await fetch(`${service.opsUrl}/metrics`);
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const exposition = new Exposition(await answer.text());
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'nodejs_heap_size_used_bytes']) {
    t.type(exposition.value(name), 'number', name);
  }
  t.ok(exposition.types.has('nodejs_gc_duration_seconds'));
});

t.test('the embedded stores tell how much they take up', { skip: onServices && 'they are not embedded' }, async (t) => {
  const exposition = await scrape();
  for (const name of ['embedded_database_bytes', 'embedded_wal_bytes', 'data_directory_free_bytes']) {
    t.ok((exposition.value(name) ?? 0) > 2 ** 20, name);
  }
  for (const name of ['embedded_dead_rows', 'embedded_last_vacuum_timestamp_seconds']) {
    t.type(exposition.value(name), 'number', name);
  }
});

t.test('requests count by operation and status', async (t) => {
  const ada = await service.createUser();
  const post = await createPost(ada);
  const risen = await rise(async () => {
    await ada.send('GET', `/posts/${post.id}`);
    await ada.send('GET', `/posts/${post.id}`);
    await ada.send('HEAD', `/posts/${post.id}`);
    await ada.send('GET', '/posts/999999999');
    await service.send('GET', '/posts/1');
    for (const path of ['/nope', '/posts/1/comments', '/%ff']) await ada.send('GET', path);
    await ada.send('PATCH', '/posts');
    await service.send('GET', '/openapi.yaml');
  });
  const requests = (operation: string, status: string) => risen('http_requests_total', { operation, status });
  t.equal(requests('getPost', '200'), 3);
  t.equal(requests('getPost', '404'), 1);
  t.equal(requests('getPost', '401'), 1);
  t.equal(requests('none', '404'), 2);
  t.equal(requests('none', '400'), 1);
  t.equal(requests('none', '405'), 1);
  t.equal(requests('none', '200'), 1);
  t.equal(risen('http_requests_total'), 10);
  t.equal(risen('http_request_duration_seconds_count', { operation: 'getPost' }), 5);
  t.ok(risen('http_request_duration_seconds_sum', { operation: 'getPost' }) > 0);
});

t.test('calls to the stores count by verb', async (t) => {
  const ada = await service.createUser();
  const risen = await rise(async () => {
    const post = await createPost(ada, { image: image() });
    await ada.send('GET', post.image ?? '');
    await ada.send('POST', `/posts/like?id=${post.id}`);
    await ada.send('GET', `/posts/${post.id}`);
  });
  const calls = (store: string, verb: string) =>
    risen('store_call_duration_seconds_count', { store, verb, outcome: 'ok' });
  t.equal(calls('images', 'put'), 1);
  t.equal(calls('images', 'get'), 1);
  t.equal(calls('graph', 'like'), 1, 'within a transaction too');
  t.equal(calls('graph', 'relationsBetween'), 1);
});

t.test('a store measured is the store, and each way in which a call ends is told', async (t) => {
  const told: [store: string, verb: string, outcome: Outcome][] = [];
  const observer = {
    storeCall: (store: string, verb: string, seconds: number, outcome: Outcome) => {
      t.ok(seconds >= 0 && seconds < 60);
      told.push([store, verb, outcome]);
    },
    batch: () => undefined,
  };
  const directory = await temporaryDirectory(t);
  const images = withMetrics('images', diskImages(directory), observer);
  t.equal(await images.get('none.png'), undefined);
  await images.remove('none.png');
  for await (const name of images.list()) t.fail(name);
  const away = withMetrics('images', diskImages(join(directory, 'gone')), observer);
  await t.rejects(away.get('none.png'));
  t.same(told.splice(0), [
    ['images', 'get', 'ok'],
    ['images', 'remove', 'ok'],
    ['images', 'get', 'unavailable'],
  ]);

  const graph = withMetrics('graph', service.stores.graph, observer);
  await service.stores.db.transaction().execute(async (trx) => {
    t.same(await graph.within(trx).friendsOf(0), []);
  });
  t.same(await graph.snapshot.personIds(Number.MAX_SAFE_INTEGER, 1), []);
  await t.rejects(graph.snapshot.personIds(0, -1));
  t.equal(graph.kind, service.stores.graph.kind);
  t.same(told, [
    ['graph', 'friendsOf', 'ok'],
    ['graph', 'personIds', 'ok'],
    ['graph', 'personIds', 'error'],
  ]);
});

t.test('batches are measured by their names', async (t) => {
  const ada = await service.createUser();
  const risen = await rise(() => Promise.all(Array.from({ length: 20 }, () => ada.send('GET', '/auth/me'))));
  t.equal(risen('batch_size_sum', { batch: 'session' }), 20);
  const batches = risen('batch_size_count', { batch: 'session' });
  t.ok(batches >= 1 && batches <= 20, `${batches} batches`);
  const post = await createPost(ada);
  t.equal((await rise(() => ada.send('POST', `/posts/like?id=${post.id}`)))('batch_size_sum', { batch: 'setLike' }), 1);
});

t.test('the outbox: what waits, what should not wait any more, and since when', async (t) => {
  const { db } = service.stores;
  const key = `metrics-${randomBytes(8).toString('hex')}`;
  const read = async () => {
    const exposition = await scrape();
    return Object.fromEntries(
      ['person', 'post', 'image'].map((kind) => [
        kind,
        ['outbox_waiting', 'outbox_overdue', 'outbox_oldest_age_seconds'].map((name) =>
          exposition.value(name, { kind }),
        ),
      ]),
    );
  };
  while ((await read()).person?.[0] !== 0 || (await read()).post?.[0] !== 0) await setImmediate();
  await sql`
    insert into outbox (kind, key, due_at, attempts, created_at) values
      ('person', ${key}, now() + interval '1 hour', 3, now() - interval '100 seconds'),
      ('person', ${key}, now() + interval '1 hour', 0, now() - interval '7000 seconds'),
      ('post', ${key}, now() + interval '1 hour', 0, now())`.execute(db);
  const { person, post, image } = await read();
  t.same(person?.slice(0, 2), [2, 1], 'what was tried in vain is overdue');
  t.ok((person?.[2] ?? 0) >= 7000 && (person?.[2] ?? 0) < 8000);
  t.same(post?.slice(0, 2), [1, 0]);
  t.same(image, [0, 0, 0]);
  await db.deleteFrom('outbox').where('key', '=', key).execute();
  t.same((await read()).person, [0, 0, 0]);
});

t.test('without PostgreSQL the rest is answered', async (t) => {
  const metrics = createMetrics();
  t.teardown(metrics.close);
  const pools = () => ({ main: { total: 3, idle: 1, waiting: 4 } });
  const answers = [
    async () => [{ kind: 'post' as const, waiting: 7, overdue: 1, age: 9 }],
    () => Promise.reject(new Error('away')),
    () => new Promise<never>(() => undefined),
  ];
  for (const backlog of answers) {
    metrics.watch({ pools, backlog });
    const exposition = new Exposition(await metrics.text());
    t.equal(exposition.value('outbox_waiting'), backlog === answers[0] ? 7 : undefined, 'and nothing old');
    t.equal(exposition.value('postgres_pool_connections', { pool: 'main', state: 'idle' }), 1);
    t.equal(exposition.value('postgres_pool_connections', { pool: 'main', state: 'used' }), 2);
    t.equal(exposition.value('postgres_pool_waiting', { pool: 'main' }), 4);
  }
});

t.test("the service's own pools are there", async (t) => {
  const exposition = await scrape();
  for (const pool of Object.keys(service.stores.pools())) {
    t.type(exposition.value('postgres_pool_connections', { pool, state: 'used' }), 'number', pool);
    t.type(exposition.value('postgres_pool_waiting', { pool }), 'number', pool);
  }
});

t.test('passwords under way and waiting', async (t) => {
  const metrics = createMetrics();
  t.teardown(metrics.close);
  const hashes = async () => {
    const exposition = new Exposition(await metrics.text());
    return ['running', 'waiting'].map((state) => exposition.value('password_hashes', { state }) ?? Number.NaN);
  };
  t.same(await hashes(), [0, 0]);
  const burst = Promise.all(Array.from({ length: 12 }, () => hashPassword('TestHarbour!77')));
  await setImmediate();
  const [running = 0, waiting = 0] = await hashes();
  t.ok(running >= 1, `${running} are running`);
  t.ok(waiting >= 1, `${waiting} are waiting`);
  await burst;
  t.same(await hashes(), [0, 0]);
});

t.test('labels are names from the code and the contract; nothing a user sends makes another series', async (t) => {
  const ada = await service.createUser({ name: 'Ada Unmistakable' });
  const post = await createPost(ada, { title: 'Unmistakable', image: image() });
  const somebody = async (salt: string) => {
    await ada.send('GET', post.image ?? '');
    await ada.send('GET', `/profiles/${ada.id}`);
    await ada.send('GET', `/posts/image/${salt}.png`);
    await ada.send('GET', `/${salt}`);
    await ada.send('GET', `/posts?limit=7&${salt}=1`);
    await service.send('GET', '/posts', { token: salt, headers: { 'User-Agent': salt } });
  };
  await somebody('unmistakable');
  const ours = ({ samples }: Exposition) => samples.filter(({ name }) => /^(http|store|batch)_/.test(name)).length;
  const before = ours(await scrape());
  for (let round = 0; round < 5; round += 1) await somebody(randomBytes(8).toString('hex'));
  const answer = await fetch(`${service.opsUrl}/metrics`);
  const text = await answer.text();
  const exposition = new Exposition(text);
  t.equal(ours(exposition), before);

  const operations = new Set(['none', ...contract.map(({ id }) => id)]);
  for (const { name, labels } of exposition.samples) {
    const { operation = 'none', status = '200', verb = 'x', store = 'graph', batch = 'x', kind = 'post' } = labels;
    const fine =
      operations.has(operation) &&
      /^[2-5]\d\d$/.test(status) &&
      /^[a-zA-Z]+$/.test(verb) &&
      /^[a-zA-Z]+$/.test(batch) &&
      /^[a-zA-Z]+$/.test(kind) &&
      ['postgres', 'graph', 'images', 'redis'].includes(store);
    if (!fine) t.fail(name, { labels });
  }
  for (const secret of [/unmistakable/i, ada.username, ada.email, ada.token, '.png', '/posts', '127.0.0.1']) {
    t.notMatch(text, secret);
  }
});

t.test('services in one process count apart', async (t) => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.request('listPosts', 200, 0.1);
  t.equal(new Exposition(await one.text()).value('http_requests_total'), 1);
  t.equal(new Exposition(await two.text()).value('http_requests_total'), undefined);
  one.close();
  two.close();
});
