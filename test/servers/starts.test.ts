import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { listen } from '../support/listen.js';
import { needsNeo4j } from '../support/neo4j-graph.js';
import { expectRefusedStart, spawnService, startProcess, untilListening } from '../support/processes.js';
import { type Fault, startProxy } from '../support/proxy.js';
import { freshStores, needsServers, queryDatabase, queryGraph, temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { registerUser } from '../support/users.js';

/** Disables the log, so that the output of a start is only its error message. */
const SILENT_LOG = { LOG_LEVEL: 'silent' };

/** Expects a start to fail with one line that gives this reason and contains no secret. */
async function expectRefused(t: Test, environment: NodeJS.ProcessEnv, reason: RegExp): Promise<void> {
  const output = await expectRefusedStart(t, { ...environment, ...SILENT_LOG }, reason);
  const { password } = new URL(environment.DATABASE_URL ?? '');
  for (const secret of [password, environment.NEO4J_PASSWORD, environment.AWS_SECRET_ACCESS_KEY]) {
    if (secret) t.notMatch(output, secret, 'no secret is printed');
  }
}

/** Creates a database without any tables on the same server, and returns its URL. */
async function createEmptyDatabase(t: Test, existingUrl: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await queryDatabase(existingUrl, `create database ${name}`);
  t.teardown(() => queryDatabase(existingUrl, `drop database ${name} with (force)`));
  return Object.assign(new URL(existingUrl), { pathname: name }).href;
}

t.test('several processes start concurrently on empty stores, and all serve', needsAllServers, async (t) => {
  const { DATABASE_URL: existingUrl = '', ...others } = await freshStores(t);
  await queryGraph('MATCH (i:Installation) DELETE i');
  const environment = { ...others, DATABASE_URL: await createEmptyDatabase(t, existingUrl) };
  const services = await Promise.all(Array.from({ length: 4 }, () => untilListening(spawnService(t, environment))));
  await Promise.all(
    services.map(async ({ url, opsUrl }) => {
      t.equal((await fetch(`${opsUrl}/readyz`)).status, 200);
      await registerUser(t, url);
    }),
  );
  const { rows } = await queryDatabase(environment.DATABASE_URL, 'select count(*)::int from accounts');
  t.same(rows, [{ count: 4 }], 'all processes use the same database');
});

t.test('a start on stores that do not belong together is refused and changes nothing', needsAllServers, async (t) => {
  const [own, foreign] = [await freshStores(t), await freshStores(t)];
  for (const environment of [foreign, own]) {
    const service = await startProcess(t, environment);
    t.equal(await service.end('SIGTERM'), 0);
  }
  const newDatabase = await createEmptyDatabase(t, own.DATABASE_URL ?? '');
  const { S3_BUCKET: newBucket } = await freshStores(t);
  const claimedGraph = /graph .*belongs to another PostgreSQL/;

  const cases: [title: string, environment: NodeJS.ProcessEnv, reason: RegExp][] = [
    ['another database on the same graph', foreign, claimedGraph],
    ['a new database on the same graph', { ...own, DATABASE_URL: newDatabase }, claimedGraph],
    ['the database without its graph', { ...own, NEO4J_URI: '' }, /graph of kind neo4j, but embedded is configured/],
    [
      'the images of another installation',
      { ...own, S3_BUCKET: foreign.S3_BUCKET },
      /image.*belongs to another PostgreSQL/,
    ],
    ['a new image store', { ...own, S3_BUCKET: newBucket }, /image.* does not belong to this PostgreSQL/],
  ];
  for (const [title, environment, reason] of cases) await t.test(title, (t) => expectRefused(t, environment, reason));

  await t.test('a graph without an installation marker', async (t) => {
    await queryGraph('MATCH (i:Installation) DELETE i');
    await expectRefused(t, own, /graph .*does not belong to this PostgreSQL/);
  });

  const service = await startProcess(t, own);
  t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200, 'the stores that belong together still work');
  t.equal(await service.end('SIGTERM'), 0);
});

/** Returns a URL with another port. */
const withPort = (url = '', port: number) => Object.assign(new URL(url), { port: String(port) }).href;

t.test('a start without a responding PostgreSQL fails with one line', needsServers, async (t) => {
  const environment = await freshStores(t);

  // A port that accepts connections and never responds, and a closed port.
  const silent = createServer((socket) => t.teardown(() => socket.destroy()));
  const ports = [await listen(t, silent), 1];

  // Concurrently, because each start retries for ten seconds.
  const starts = ports.map(async (port) => {
    const DATA_DIR = await temporaryDirectory(t);
    const DATABASE_URL = withPort(environment.DATABASE_URL, port);
    await expectRefused(t, { ...environment, DATA_DIR, DATABASE_URL }, /^The postgres store is not available/);
  });
  await Promise.all(starts);
});

/** Returns the stores that `/readyz` reports as unavailable. */
async function unavailableStores({ opsUrl }: { opsUrl: string }): Promise<string[]> {
  const { stores } = (await (await fetch(`${opsUrl}/readyz`)).json()) as { stores: Record<string, { ok: boolean }> };
  return Object.keys(stores).filter((name) => !stores[name]?.ok);
}

for (const [fault, names] of [
  ['silence', ['graph']],
  ['refuse', ['graph', 'images', 'redis']],
] as [Fault, StoreName[]][]) {
  t.test(`starts while stores are unavailable (${fault}: ${names}), and is ready later`, needsAllServers, async (t) => {
    const { environment, ...proxies } = await startFaultyStores(t, await freshStores(t), names);
    for (const name of names) await proxies[name].setFault(fault);
    const service = await startProcess(t, environment);
    const { send } = await registerUser(t, service.url);
    const written = await send('POST', '/posts/create', { form: { title: 'T', text: 'T' } });
    t.equal(written.status, 201);
    t.equal((await send('GET', '/posts')).status, 503);
    t.same(await unavailableStores(service), names);
    for (const name of names) await proxies[name].setFault('none');
    await until(async () => (await unavailableStores(service)).length === 0);
    t.same((await send('GET', '/posts')).body, [written.body]);
  });
}

t.test('exits if Neo4j, unavailable during the start, belongs to another installation', needsNeo4j, async (t) => {
  const environment = await freshStores(t);
  await (await startProcess(t, environment)).end('SIGTERM');
  const proxy = await startProxy(t, environment.NEO4J_URI ?? '');
  await proxy.setFault('refuse');
  const service = await startProcess(t, { ...environment, ...SILENT_LOG, NEO4J_URI: proxy.url });
  await queryGraph("MATCH (i:Installation) SET i.id = 'another'");
  // Unlike `exit`, `close` comes after the complete output.
  const closed = once(service.child, 'close');
  await proxy.setFault('none');
  t.equal((await closed)[0], 1);
  t.match(service.output(), /\nThe social graph \(neo4j\) belongs to another PostgreSQL\n$/);
});
