import { createServer, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { row, runDoctor } from '../support/doctor.js';
import { listen } from '../support/listen.js';
import { runCommand, startProcess } from '../support/processes.js';
import { connectRedis } from '../support/redis.js';
import { freshStores, needsServers, queryDatabase, queryGraph } from '../support/stores.js';
import { overTls, writeCertificate } from '../support/tls.js';

/** The rows of each store. The first one shows whether the store is available. */
const STORES = {
  postgres: [
    'PostgreSQL',
    ...['clock', 'migrations', 'permissions', 'connections', 'indexes'].map((check) => `PostgreSQL ${check}`),
    ...['outbox', 'expired sessions', 'installation'],
  ],
  graph: [
    'Neo4j',
    ...['clock', 'permissions', 'constraints', 'connections', 'installation'].map((check) => `Neo4j ${check}`),
  ],
  images: ['S3', 'S3 clock', 'S3 permissions', 'S3 installation'],
  redis: ['Redis', 'Redis clock', 'Redis permissions'],
} as const;

/** Returns the variables of stores that a service has claimed. */
async function claimedStores(t: Test): Promise<NodeJS.ProcessEnv> {
  const environment = await freshStores(t);
  const service = await startProcess(t, environment);
  await service.end('SIGTERM');
  return environment;
}

/** Returns the variables of PostgreSQL alone. A run that checks no other store takes half the time. */
const postgresOnly = ({ DATABASE_URL, TOKEN_KEYS, DATA_DIR }: NodeJS.ProcessEnv) => ({
  DATABASE_URL,
  TOKEN_KEYS,
  DATA_DIR,
});

/** Returns the secrets in the variables of the stores. */
const secretsOf = ({ DATABASE_URL = '', REDIS_URL = '', ...others }: NodeJS.ProcessEnv) => [
  ...[DATABASE_URL, REDIS_URL].map((url) => new URL(url).password),
  ...[others.NEO4J_PASSWORD, others.AWS_SECRET_ACCESS_KEY, others.TOKEN_KEYS?.split(':')[1]].map(String),
];

/** Returns the URL of a store with a wrong password. */
const withWrongPassword = (url: string | undefined) => (url ?? '').replace(/(:\/\/[^@]*)@/, '$1x@');

t.test('finds nothing wrong beside a running service, and leaves nothing behind', needsServers, async (t) => {
  const environment = await freshStores(t);
  const service = await startProcess(t, environment);
  const { DATABASE_URL = '', REDIS_URL = '', S3_ENDPOINT = '', S3_BUCKET } = environment;
  const countGraph = () => queryGraph('MATCH (n) RETURN count(*) AS count');
  const before = await countGraph();
  while (!(await fetch(`${service.opsUrl}/readyz`)).ok) await sleep(100);
  const { code, output, rows } = await runDoctor(t, { ...environment, OPS_PORT: new URL(service.opsUrl).port });
  t.equal(code, 0, output);
  for (const check of [...Object.values(STORES).flat(), '/readyz']) t.match(rows[check], { result: 'ok' }, check);
  const server = new RegExp(`^1\\d\\.\\d.* at ${new URL(DATABASE_URL).host}/test_.*, no TLS, \\d+ ms$`);
  t.match(rows.PostgreSQL?.detail, server);
  t.match(rows.Neo4j?.detail, /^\d+\.\d+.*\(community\) at 127.*, no TLS, \d+ ms$/);
  t.match(rows.S3?.detail, /^bucket test-.* at 127.*, no TLS, \d+ ms$/);
  t.match(rows.Redis?.detail, /^\d+\.\d+.* at 127.*, no TLS, \d+ ms$/);
  for (const secret of secretsOf(environment)) t.notOk(output.includes(secret), 'no secret is printed');

  const { Contents = [] } = await new S3Client({ endpoint: S3_ENDPOINT, forcePathStyle: true }).send(
    new ListObjectsV2Command({ Bucket: S3_BUCKET }),
  );
  const keys = Contents.map(({ Key }) => Key);
  t.same(keys, ['.installation']);
  t.same(await countGraph(), before);
  t.same(await queryGraph("SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'doctor' RETURN name"), []);
  const redis = connectRedis(t, REDIS_URL);
  // The key of the check expires.
  while ((await redis.keys('*doctor*')).length > 0) await sleep(100);
});

t.test('accepts stores that no service has claimed yet', needsServers, async (t) => {
  const environment = await freshStores(t);
  await queryGraph('MATCH (i:Installation) DELETE i');
  t.match((await runDoctor(t, environment)).rows.installation, row('ok', /^new: the first start creates it$/));
  await queryDatabase(environment.DATABASE_URL ?? '', 'insert into installation default values');
  const { code, rows } = await runDoctor(t, environment);
  t.equal(code, 0);
  t.match(rows['Neo4j installation'], row('ok', /^new: the first start claims it$/));
  t.match(rows['S3 installation'], row('ok', /^new/));
});

t.test('reports which connections use TLS', needsServers, async (t) => {
  const environment = await freshStores(t);
  const certificate = await writeCertificate(t);
  const secure = await overTls(t, environment, certificate);
  const { code, output, rows } = await runDoctor(t, { ...secure, NODE_EXTRA_CA_CERTS: certificate });
  t.equal(code, 0, output);
  for (const check of ['PostgreSQL', 'Neo4j', 'S3', 'Redis']) t.match(rows[check], row('ok', /, TLS, \d+ ms$/));
  const DATABASE_URL = secure.DATABASE_URL?.replace(/\?.*/, '?sslmode=no-verify');
  const NEO4J_URI = secure.NEO4J_URI?.replace('+s', '+ssc');
  const unverified = await runDoctor(t, { ...secure, DATABASE_URL, NEO4J_URI });
  t.equal(unverified.code, 1);
  t.match(unverified.rows.PostgreSQL, row('ok', /TLS without verification/));
  t.match(unverified.rows.Neo4j, row('ok', /TLS without verification/));
  t.match(unverified.rows.S3, row('failed', /certificate/));
  t.match(unverified.rows.Redis, row('failed', /certificate/));
});

t.test('reports each store that is unavailable, and checks the others', needsAllServers, async (t) => {
  const stores = await freshStores(t);
  const names = Object.keys(STORES) as (keyof typeof STORES)[];
  // At the same time, since each run waits until the calls to its silent store time out.
  const runs = names.map(async (name) => {
    const { environment, [name]: proxy } = await startFaultyStores(t, stores, [name]);
    await proxy.setFault('silence');
    const { code, rows } = await runDoctor(t, environment);
    t.equal(code, 1);
    const [first, ...others] = STORES[name];
    t.match(rows[first], { result: 'failed' }, name);
    for (const check of others) t.same(rows[check], { result: 'skipped', detail: 'not available' }, check);
    for (const other of names) if (other !== name) t.match(rows[STORES[other][0]], { result: 'ok' });
  });
  await Promise.all(runs);
});

t.test('reports wrong passwords without printing them, and a wrong Redis database', needsServers, async (t) => {
  const environment = await freshStores(t);
  const wrong = {
    DATABASE_URL: withWrongPassword(environment.DATABASE_URL),
    REDIS_URL: withWrongPassword(environment.REDIS_URL),
    NEO4J_PASSWORD: `${environment.NEO4J_PASSWORD}x`,
    AWS_SECRET_ACCESS_KEY: `${environment.AWS_SECRET_ACCESS_KEY}x`,
  };
  const { code, output, rows } = await runDoctor(t, { ...environment, ...wrong });
  t.equal(code, 1);
  t.match(rows.PostgreSQL, row('failed', /password authentication failed/));
  t.match(rows.Neo4j, row('failed', /unauthorized/));
  t.match(rows.S3, row('failed', /S3 responded with 403/));
  t.match(rows.Redis, row('failed', /WRONGPASS/));
  for (const secret of secretsOf(environment)) t.notOk(output.includes(secret));

  const REDIS_URL = Object.assign(new URL(environment.REDIS_URL ?? ''), { pathname: '/99999' }).href;
  const redis = await runDoctor(t, { REDIS_URL, TOKEN_KEYS: environment.TOKEN_KEYS, DATA_DIR: environment.DATA_DIR });
  t.match(redis.rows.Redis, row('failed', /DB index is out of range/));
});

t.test('reports stores of another installation', needsServers, async (t) => {
  const [own, foreign] = [await claimedStores(t), await claimedStores(t)];
  const foreignStores = await runDoctor(t, { ...own, S3_BUCKET: foreign.S3_BUCKET });
  t.equal(foreignStores.code, 1);
  t.match(foreignStores.rows['Neo4j installation'], row('failed', /graph \(neo4j\) belongs to another PostgreSQL/));
  t.match(foreignStores.rows['S3 installation'], row('failed', /image store \(s3\) belongs to another PostgreSQL/));

  await queryGraph('MATCH (i:Installation) DELETE i');
  const { S3_BUCKET } = await freshStores(t);
  const emptied = await runDoctor(t, { ...own, S3_BUCKET });
  t.match(emptied.rows['Neo4j installation'], row('failed', /it has no installation marker/));
  t.match(emptied.rows['S3 installation'], row('failed', /it has no installation marker/));

  const otherKind = await runDoctor(t, { ...own, S3_BUCKET: '', S3_ENDPOINT: '' });
  t.match(otherKind.rows.installation, row('failed', /of kind s3, but disk is configured/));
  t.match(otherKind.rows['images installation'], row('skipped', /installation in PostgreSQL is not known/));
  await queryDatabase(own.DATABASE_URL ?? '', "update installation set moved_to = 'db.example'");
  t.match((await runDoctor(t, own)).rows.installation, row('failed', /was moved to db\.example/));
});

t.test('reports missing permissions', needsServers, async (t) => {
  const environment = await freshStores(t);
  const admin = environment.DATABASE_URL ?? '';
  const role = `doctor_${Date.now()}`;
  await queryDatabase(admin, `create role ${role} login password 'hush'`);
  t.teardown(() => queryDatabase(admin, `drop owned by ${role}; drop role ${role}`));
  const DATABASE_URL = Object.assign(new URL(admin), { username: role, password: 'hush' }).href;
  const permissions = async () =>
    (await runDoctor(t, postgresOnly({ ...environment, DATABASE_URL }))).rows['PostgreSQL permissions'];

  await queryDatabase(admin, `grant select on all tables in schema public to ${role}`);
  t.match(await permissions(), row('failed', /^missing: insert on accounts, .*update on posts_id_seq/));
  await queryDatabase(
    admin,
    `grant all on all tables in schema public to ${role}; grant all on all sequences in schema public to ${role}`,
  );
  t.match(await permissions(), row('warning', /role that has create in schema public$/));
  await queryDatabase(admin, `grant create on schema public to ${role}`);
  t.match(await permissions(), row('warning', /role that has ownership of the tables$/));
  await queryDatabase(admin, 'delete from kysely_migration where name = (select max(name) from kysely_migration)');
  t.match(await permissions(), row('failed', /ownership of the tables, which the pending migrations need$/));
  const migration = await runCommand(t, ['migrate'], { ...environment, DATABASE_URL });
  t.same(migration, { code: 1, output: 'must be owner of table outbox\n' });
  await queryDatabase(admin, `alter role ${role} set search_path = missing`);
  t.match(await permissions(), row('failed', /no schema of the search path exists/));

  const redisUrl = environment.REDIS_URL ?? '';
  const redis = connectRedis(t, redisUrl);
  await redis.call('ACL', 'SETUSER', role, 'on', '>hush', '~*', '+@all', '-eval');
  t.teardown(() => redis.call('ACL', 'DELUSER', role));
  const REDIS_URL = Object.assign(new URL(redisUrl), { username: role, password: 'hush' }).href;
  // The community edition has no roles, so a constraint with the name of the probe makes the probe fail.
  await queryGraph('CREATE CONSTRAINT doctor_probe FOR (i:Installation) REQUIRE i.at IS UNIQUE');
  t.teardown(() => queryGraph('DROP CONSTRAINT doctor_probe IF EXISTS'));
  const { rows } = await runDoctor(t, { ...environment, REDIS_URL });
  t.match(rows['Redis permissions'], row('failed', /NOPERM/));
  t.match(rows['Neo4j permissions'], row('failed', /constraint already exists/i));
});

/** Starts a proxy that refuses uploads and deletions, as a bucket policy may, and returns its URL. */
async function startReadOnlyProxy(t: Test, endpoint: string): Promise<string> {
  const proxy = createServer(({ method, url, headers }, response) => {
    if (method === 'PUT' || method === 'DELETE') {
      return response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    }
    // The client's Host header is kept, because it is signed.
    return request(new URL(url ?? '', endpoint), { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 0, upstream.headers);
      upstream.pipe(response);
    }).end();
  });
  return `http://127.0.0.1:${await listen(t, proxy)}`;
}

t.test('reports a bucket without permission to write', needsServers, async (t) => {
  const environment = await freshStores(t);
  const S3_ENDPOINT = await startReadOnlyProxy(t, environment.S3_ENDPOINT ?? '');
  const { code, rows } = await runDoctor(t, { ...environment, S3_ENDPOINT });
  t.equal(code, 1);
  t.match(rows.S3, { result: 'ok' });
  t.match(rows['S3 permissions'], row('failed', /^put: .* 403 .*; get: the object does not exist; delete: .* 403 /));
});

t.test('warns of clocks that differ', needsServers, async (t) => {
  const environment = await freshStores(t);
  const shift = 'data:text/javascript,const now = Date.now; Date.now = () => now() %2B 10_000;';
  const { code, rows } = await runDoctor(t, environment, ['--import', shift]);
  t.equal(code, 0);
  for (const store of ['PostgreSQL', 'Neo4j', 'S3', 'Redis']) {
    t.match(
      rows[`${store} clock`],
      row('warning', /^\d+\.\d s behind this machine: .* synchronize both clocks/),
      store,
    );
  }
});

t.test('reports migrations that are pending, and those of another version', needsServers, async (t) => {
  const environment = await freshStores(t);
  const url = environment.DATABASE_URL ?? '';
  const migrations = async () => (await runDoctor(t, postgresOnly(environment))).rows['PostgreSQL migrations'];
  await queryDatabase(
    url,
    "insert into kysely_migration select '9999-future', timestamp from kysely_migration limit 1",
  );
  t.match(await migrations(), row('warning', /^applied by a later version: 9999-future/));
  await queryDatabase(url, "delete from kysely_migration where name like '0007%'");
  t.match(await migrations(), row('failed', /^applied by another version: 9999-future; missing: 0007-/));
  await queryDatabase(url, "delete from kysely_migration where name like '9999%'");
  t.match(await migrations(), row('warning', /^pending: 0007-username-keys; .* npm run migrate$/));
  await queryDatabase(url, 'drop schema public cascade; create schema public');
  const { code, rows } = await runDoctor(t, postgresOnly(environment));
  t.equal(code, 0, 'a new database is no problem');
  t.match(rows['PostgreSQL migrations'], row('warning', /^pending: 0001-initial, /));
  t.match(rows.installation, row('skipped', /needs the migrations/));

  await queryGraph('DROP CONSTRAINT attempt_id IF EXISTS');
  const { rows: graph } = await runDoctor(t, environment);
  t.match(graph['Neo4j constraints'], row('warning', /^missing: attempt_id; .* npm run migrate$/));
});

t.test(
  'warns of more processes than cores, and of fewer connections than their pools may open',
  needsServers,
  async (t) => {
    const environment = await freshStores(t);
    const name = new URL(environment.DATABASE_URL ?? '').pathname.slice(1);
    const checkSizes = async (settings: NodeJS.ProcessEnv) => {
      const { rows } = await runDoctor(t, { ...environment, ...settings });
      return [rows.WORKERS, rows['PostgreSQL connections'], rows['Neo4j connections']];
    };
    t.match(await checkSizes({ WORKERS: '1000', DATABASE_POOL: '200', NEO4J_POOL: '500' }), [
      row('warning', /^1000 for \d+ core/),
      row('warning', /^207000 needed by 1000 process\(es\), \d+ allowed .* raise max_connections/),
      row('warning', /^up to 503000 used .* NEO4J_POOL/),
    ]);
    await queryDatabase(environment.DATABASE_URL ?? '', `alter database ${name} connection limit 16`);
    t.match(await checkSizes({}), [
      row('ok', /^1 for/),
      row('warning', /^17 needed by 1 process\(es\), 16 allowed/),
      row('ok', /^up to 23/),
    ]);
  },
);

t.test('reports invalid indexes, late outbox entries and sessions that are not purged', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = (text: string) => queryDatabase(environment.DATABASE_URL ?? '', text);
  await query("update pg_index set indisvalid = false where indexrelid = 'posts_image'::regclass");
  await query(
    "insert into outbox (kind, key, created_at, due_at) select 'post', '1', t, t from (select now() - interval '2 h' t) x",
  );
  await query(`
    with a as (insert into accounts (name, username, username_key, email, password_hash) values ('a', 'a', 'a', 'a', 'a') returning id)
    insert into sessions (id, account_id, device_name, expires_at) select 's', id, 'd', now() - interval '2 h' from a`);
  const { code, rows } = await runDoctor(t, postgresOnly(environment));
  t.equal(code, 1);
  t.match(rows['PostgreSQL indexes'], row('failed', /^invalid: posts_image; run reindex/));
  t.match(rows.outbox, row('warning', /^overdue: 1 of kind post, the oldest for 120 min\./));
  t.match(rows['expired sessions'], row('warning', /^1 expired more than an hour ago/));
});

t.test('reports a PostgreSQL that is read-only, or of an unsupported version', needsServers, async (t) => {
  const environment = postgresOnly(await freshStores(t));
  const url = environment.DATABASE_URL ?? '';
  const name = new URL(url).pathname.slice(1);
  /** Returns a statement that fakes the version: the function that it creates precedes the real one in the search path. */
  const fakeVersion = (
    version: string,
  ) => `create or replace function fake.current_setting(name text) returns text language sql as
    $$ select case name when 'server_version_num' then '${version}' else pg_catalog.current_setting(name) end $$`;
  await queryDatabase(
    url,
    `create schema fake; ${fakeVersion('140020')};
    alter database ${name} set search_path = public, fake, pg_catalog`,
  );
  t.match((await runDoctor(t, environment)).rows.PostgreSQL, row('failed', /needs version 15 to 18$/));
  await queryDatabase(url, fakeVersion('190000'));
  t.match((await runDoctor(t, environment)).rows.PostgreSQL, row('warning', /only tested up to version 18$/));
  await queryDatabase(url, `alter database ${name} set default_transaction_read_only = on`);
  t.match((await runDoctor(t, environment)).rows.PostgreSQL, row('failed', /read-only; use the primary server$/));
});
