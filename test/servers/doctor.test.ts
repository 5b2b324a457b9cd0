import { createServer, request } from 'node:http';
import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { expectRows, type Rows, row } from '../support/doctor.js';
import { listen } from '../support/listen.js';
import { runCommand, startProcess } from '../support/processes.js';
import { connectRedis } from '../support/redis.js';
import { freshStores, needsServers, queryDatabase, queryGraph } from '../support/stores.js';
import { overTls, writeCertificate } from '../support/tls.js';
import { until } from '../support/until.js';

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

/** Returns the variables without those of the other stores. A run that checks only PostgreSQL takes half the time. */
const postgresOnly = ({ DATABASE_URL, TOKEN_KEYS, DATA_DIR }: NodeJS.ProcessEnv) => ({
  DATABASE_URL,
  TOKEN_KEYS,
  DATA_DIR,
});

/** Returns the same row for each of these checks. */
const eachOf = (checks: readonly string[], row: Rows[string]): Rows =>
  Object.fromEntries(checks.map((check) => [check, row]));

/** Returns a function that queries the database. */
const queriesTo =
  ({ DATABASE_URL = '' }: NodeJS.ProcessEnv) =>
  (text: string) =>
    queryDatabase(DATABASE_URL, text);

const databaseOf = ({ DATABASE_URL = '' }: NodeJS.ProcessEnv) => new URL(DATABASE_URL).pathname.slice(1);

const openS3 = (endpoint: string) => new S3Client({ endpoint, forcePathStyle: true });

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
  await until(async () => (await fetch(`${service.opsUrl}/readyz`)).ok);
  const server = new RegExp(`^1\\d\\.\\d.* at ${new URL(DATABASE_URL).host}/test_.*, no TLS, \\d+ ms$`);
  const besideService = { ...environment, OPS_PORT: new URL(service.opsUrl).port };
  const output = await expectRows(t, besideService, {
    ...eachOf([...Object.values(STORES).flat(), '/readyz'], { result: 'ok' }),
    PostgreSQL: row('ok', server),
    Neo4j: row('ok', /^\d+\.\d+.*\(community\) at 127.*, no TLS, \d+ ms$/),
    S3: row('ok', /^bucket test-.* at 127.*, no TLS, \d+ ms$/),
    Redis: row('ok', /^\d+\.\d+.* at 127.*, no TLS, \d+ ms$/),
  });
  for (const secret of secretsOf(environment)) t.notOk(output.includes(secret), 'no secret is printed');

  const { Contents = [] } = await openS3(S3_ENDPOINT).send(new ListObjectsV2Command({ Bucket: S3_BUCKET }));
  t.match(Contents, [{ Key: '.installation' }]);
  t.equal(Contents.length, 1);
  t.same(await countGraph(), before);
  t.same(await queryGraph("SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'doctor' RETURN name"), []);
  const redis = connectRedis(t, REDIS_URL);
  // The key of the check expires.
  await until(async () => (await redis.keys('*doctor*')).length === 0);
});

t.test('accepts stores that no service has claimed yet', needsServers, async (t) => {
  const environment = await freshStores(t);
  await queryGraph('MATCH (i:Installation) DELETE i');
  await expectRows(t, environment, { installation: row('ok', /^new: the first start creates it$/) });
  await queriesTo(environment)('insert into installation default values');
  await expectRows(t, environment, {
    'Neo4j installation': row('ok', /^new: the first start claims it$/),
    'S3 installation': row('ok', /^new/),
  });
});

t.test('reports which connections use TLS', needsServers, async (t) => {
  const environment = await freshStores(t);
  const certificate = await writeCertificate(t);
  const secure = await overTls(t, environment, certificate);
  const usesTls = eachOf(['PostgreSQL', 'Neo4j', 'S3', 'Redis'], row('ok', /, TLS, \d+ ms$/));
  await expectRows(t, { ...secure, NODE_EXTRA_CA_CERTS: certificate }, usesTls);
  const unverified = {
    ...secure,
    DATABASE_URL: secure.DATABASE_URL?.replace(/\?.*/, '?sslmode=no-verify'),
    NEO4J_URI: secure.NEO4J_URI?.replace('+s', '+ssc'),
  };
  await expectRows(t, unverified, {
    ...eachOf(['PostgreSQL', 'Neo4j'], row('ok', /TLS without verification/)),
    ...eachOf(['S3', 'Redis'], row('failed', /certificate/)),
  });
});

t.test('reports each store that is unavailable, and checks the others', needsAllServers, async (t) => {
  const stores = await freshStores(t);
  const names = Object.keys(STORES) as (keyof typeof STORES)[];
  // At the same time, since each run waits until the calls to its silent store time out.
  const runs = names.map(async (name) => {
    const { environment, [name]: proxy } = await startFaultyStores(t, stores, [name]);
    await proxy.setFault('silence');
    const [first, ...others] = STORES[name];
    const otherStores = names.filter((other) => other !== name).map((other) => STORES[other][0]);
    await expectRows(t, environment, {
      [first]: { result: 'failed' },
      ...eachOf(others, { result: 'skipped', detail: 'not available' }),
      ...eachOf(otherStores, { result: 'ok' }),
    });
  });
  await Promise.all(runs);
});

t.test('reports wrong passwords without printing them, and a wrong Redis database', needsServers, async (t) => {
  const environment = await freshStores(t);
  const wrongPasswords = {
    ...environment,
    DATABASE_URL: withWrongPassword(environment.DATABASE_URL),
    REDIS_URL: withWrongPassword(environment.REDIS_URL),
    NEO4J_PASSWORD: `${environment.NEO4J_PASSWORD}x`,
    AWS_SECRET_ACCESS_KEY: `${environment.AWS_SECRET_ACCESS_KEY}x`,
  };
  const output = await expectRows(t, wrongPasswords, {
    PostgreSQL: row('failed', /password authentication failed/),
    Neo4j: row('failed', /unauthorized/),
    S3: row('failed', /S3 responded with 403/),
    Redis: row('failed', /WRONGPASS/),
  });
  for (const secret of secretsOf(environment)) t.notOk(output.includes(secret));

  const REDIS_URL = Object.assign(new URL(environment.REDIS_URL ?? ''), { pathname: '/99999' }).href;
  const { TOKEN_KEYS, DATA_DIR } = environment;
  await expectRows(t, { REDIS_URL, TOKEN_KEYS, DATA_DIR }, { Redis: row('failed', /DB index is out of range/) });
});

t.test('reports stores without a marker, of another installation or kind, and moved ones', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = queriesTo(environment);
  await query("insert into installation (graph, images) values ('neo4j', 's3')");
  await queryGraph('MATCH (i:Installation) DELETE i');
  const unmarked = row('failed', /it has no installation marker/);
  await expectRows(t, environment, { 'Neo4j installation': unmarked, 'S3 installation': unmarked });

  await queryGraph("CREATE (:Installation {rank: 1, id: 'another'})");
  const { S3_ENDPOINT = '', S3_BUCKET: Bucket } = environment;
  await openS3(S3_ENDPOINT).send(new PutObjectCommand({ Bucket, Key: '.installation', Body: 'another' }));
  await expectRows(t, environment, {
    'Neo4j installation': row('failed', /graph \(neo4j\) belongs to another PostgreSQL/),
    'S3 installation': row('failed', /image store \(s3\) belongs to another PostgreSQL/),
  });

  const imagesOnDisk = { ...environment, S3_BUCKET: '', S3_ENDPOINT: '' };
  await expectRows(t, imagesOnDisk, { installation: row('failed', /of kind s3, but disk is configured/) });
  await query("update installation set moved_to = 'db.example'");
  await expectRows(t, environment, { installation: row('failed', /was moved to db\.example/) });
});

t.test('reports missing permissions', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = queriesTo(environment);
  const role = `doctor_${Date.now()}`;
  await query(`create role ${role} login password 'hush'`);
  t.teardown(() => query(`drop owned by ${role}; drop role ${role}`));
  const asRole = (url = '') => Object.assign(new URL(url), { username: role, password: 'hush' }).href;
  const withRole = { ...environment, DATABASE_URL: asRole(environment.DATABASE_URL) };
  const expectPermissions = (result: string, detail: RegExp) =>
    expectRows(t, postgresOnly(withRole), { 'PostgreSQL permissions': row(result, detail) });

  await query(`grant select on all tables in schema public to ${role}`);
  await expectPermissions('failed', /^missing: insert on accounts, .*update on posts_id_seq/);
  await query(`grant all on all tables in schema public to ${role}`);
  await query(`grant all on all sequences in schema public to ${role}`);
  await expectPermissions('warning', /role that has create in schema public$/);
  await query(`grant create on schema public to ${role}`);
  await expectPermissions('warning', /role that has ownership of the tables$/);
  await query("delete from kysely_migration where name >= '0009'");
  await expectPermissions('failed', /ownership of the tables, which the pending migrations need$/);
  const migration = await runCommand(t, ['migrate'], withRole);
  t.same(migration, { code: 1, output: 'must be owner of table outbox\n' });
  await query(`alter role ${role} set search_path = missing`);
  await expectPermissions('failed', /no schema of the search path exists/);

  const redis = connectRedis(t, environment.REDIS_URL ?? '');
  await redis.call('ACL', 'SETUSER', role, 'on', '>hush', '~*', '+@all', '-eval');
  t.teardown(() => redis.call('ACL', 'DELUSER', role));
  // Neo4j's community edition has no roles, so a constraint with the name of the doctor's probe makes the probe fail.
  await queryGraph('CREATE CONSTRAINT doctor_probe FOR (i:Installation) REQUIRE i.at IS UNIQUE');
  t.teardown(() => queryGraph('DROP CONSTRAINT doctor_probe IF EXISTS'));
  const withRedisRole = { ...environment, REDIS_URL: asRole(environment.REDIS_URL) };
  await expectRows(t, withRedisRole, {
    'Redis permissions': row('failed', /NOPERM/),
    'Neo4j permissions': row('failed', /constraint already exists/i),
  });
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
  environment.S3_ENDPOINT = await startReadOnlyProxy(t, environment.S3_ENDPOINT ?? '');
  await expectRows(t, environment, {
    S3: { result: 'ok' },
    'S3 permissions': row('failed', /^put: .* 403 .*; get: the object does not exist; delete: .* 403 /),
  });
});

t.test('warns of clocks that differ', needsServers, async (t) => {
  const environment = await freshStores(t);
  const shift = 'data:text/javascript,const now = Date.now; Date.now = () => now() %2B 10_000;';
  const behind = row('warning', /^\d+\.\d s behind this machine: .* synchronize both clocks/);
  const clocks = ['PostgreSQL clock', 'Neo4j clock', 'S3 clock', 'Redis clock'];
  await expectRows(t, environment, eachOf(clocks, behind), ['--import', shift]);
});

t.test('reports migrations that are pending, and those of another version', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = queriesTo(environment);
  const expectMigrations = (result: string, detail: RegExp) =>
    expectRows(t, postgresOnly(environment), { 'PostgreSQL migrations': row(result, detail) });
  await query("insert into kysely_migration select '9999-future', timestamp from kysely_migration limit 1");
  await expectMigrations('warning', /^applied by a later version: 9999-future/);
  await query("delete from kysely_migration where name like '0007%'");
  await expectMigrations('failed', /^applied by another version: 9999-future; missing: 0007-/);
  await query("delete from kysely_migration where name like '9999%'");
  await expectMigrations('warning', /^pending: 0007-username-keys; .* npm run migrate$/);
  await query('drop schema public cascade; create schema public');
  await queryGraph('DROP CONSTRAINT attempt_id IF EXISTS');
  // A new database is no failure.
  await expectRows(t, environment, {
    'PostgreSQL migrations': row('warning', /^pending: 0001-initial, /),
    installation: row('skipped', /needs the migrations/),
    'Neo4j constraints': row('warning', /^missing: attempt_id; .* npm run migrate$/),
  });
});

t.test('warns of too few connections for the pools of a process', needsServers, async (t) => {
  const environment = await freshStores(t);
  const { rows } = await queriesTo(environment)(`
    select sum(case name when 'max_connections' then setting::int else -setting::int end) as allowed from pg_settings
    where name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`);
  const { allowed } = rows[0];
  const largePools = { ...environment, DATABASE_POOL: '2000', NEO4J_POOL: '5000' };
  await expectRows(t, largePools, {
    'PostgreSQL connections': row('warning', new RegExp(`^2006 needed .*, ${allowed} allowed .* raise max_conn`)),
    'Neo4j connections': row('warning', /^up to 5003 used .* NEO4J_POOL/),
  });
  await queriesTo(environment)(`alter database ${databaseOf(environment)} connection limit 15`);
  await expectRows(t, environment, {
    'PostgreSQL connections': row('warning', /^16 needed by each process, 15 allowed/),
    'Neo4j connections': row('ok', /^up to 23/),
  });
});

t.test('reports invalid indexes, overdue outbox entries and unpurged expired sessions', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = queriesTo(environment);
  await query("update pg_index set indisvalid = false where indexrelid = 'posts_image'::regclass");
  await query(
    "insert into outbox (kind, key, created_at, due_at) select 'post', '1', t, t from (select now() - interval '2 h' t) x",
  );
  await query(`
    with a as (insert into accounts (name, username, username_key, email, password_hash)
      values ('a', 'a', 'a', 'a', 'a') returning id)
    insert into sessions (id, account_id, device_name, expires_at) select 's', id, 'd', now() - interval '2 h' from a`);
  await expectRows(t, postgresOnly(environment), {
    'PostgreSQL indexes': row('failed', /^invalid: posts_image; run reindex/),
    outbox: row('warning', /^overdue: 1 of kind post, the oldest for 120 min\./),
    'expired sessions': row('warning', /^1 expired more than an hour ago/),
  });
});

t.test('reports a PostgreSQL that is read-only, or of an unsupported version', needsServers, async (t) => {
  const environment = postgresOnly(await freshStores(t));
  const query = queriesTo(environment);
  const name = databaseOf(environment);
  /** Fakes the version: the function that this creates precedes the real one in the search path. */
  const fakeVersion = (version: string) =>
    query(`create or replace function fake.current_setting(name text) returns text language sql as
      $$ select case name when 'server_version_num' then '${version}' else pg_catalog.current_setting(name) end $$`);
  await query(`create schema fake; alter database ${name} set search_path = public, fake, pg_catalog`);
  await fakeVersion('140020');
  await expectRows(t, environment, { PostgreSQL: row('failed', /needs version 15 to 18$/) });
  await fakeVersion('190000');
  await expectRows(t, environment, { PostgreSQL: row('warning', /only tested up to version 18$/) });
  await query(`alter database ${name} set default_transaction_read_only = on`);
  await expectRows(t, environment, { PostgreSQL: row('failed', /read-only; use the primary server$/) });
});
