import { createServer, request } from 'node:http';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import { needsAllServers, startFaultyStores } from '../faults/faulty-stores.js';
import { expectRows, type Rows, row } from '../support/doctor.js';
import { listen } from '../support/listen.js';
import { runCommand, startProcess } from '../support/processes.js';
import { connectRedis } from '../support/redis.js';
import { freshStores, needsServers, queryDatabase } from '../support/stores.js';

/** The first row of each store, which shows whether it is available. */
const STORES = { postgres: 'PostgreSQL', graph: 'Neo4j', images: 'S3', redis: 'Redis' } as const;

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

/** Returns the secrets in the variables of the stores. */
const secretsOf = ({ DATABASE_URL = '', REDIS_URL = '', ...others }: NodeJS.ProcessEnv) => [
  ...[DATABASE_URL, REDIS_URL].map((url) => new URL(url).password),
  ...[others.NEO4J_PASSWORD, others.AWS_SECRET_ACCESS_KEY, others.TOKEN_KEYS?.split(':')[1]].map(String),
];

/** Returns the URL of a store with a wrong password. */
const withWrongPassword = (url: string | undefined) => (url ?? '').replace(/(:\/\/[^@]*)@/, '$1x@');

t.test('finds nothing wrong beside a running service, and leaves nothing behind', needsServers, async (t) => {
  const environment = await freshStores(t);
  await startProcess(t, environment);
  const { S3_ENDPOINT = '', S3_BUCKET } = environment;
  const others = ['PostgreSQL clock', 'PostgreSQL connections', 'PostgreSQL privileges', 'Neo4j connections'];
  const output = await expectRows(t, environment, {
    PostgreSQL: row('ok', /^1\d\.\d.* at 127.*\/test_/),
    Neo4j: row('ok', /^\d+\.\d+.*\(community\) at 127/),
    S3: row('ok', /^bucket test-/),
    Redis: row('ok', /^\d+\.\d+.* at 127.*, maxmemory-policy noeviction$/),
    ...eachOf([...others, 'S3 permissions'], { result: 'ok' }),
  });
  for (const secret of secretsOf(environment)) t.notOk(output.includes(secret), 'no secret is printed');
  const s3 = new S3Client({ endpoint: S3_ENDPOINT, forcePathStyle: true });
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: S3_BUCKET }));
  t.same(
    Contents.map(({ Key }) => Key),
    ['.installation'],
  );
});

t.test('reports each store that is unavailable, and checks the others', needsAllServers, async (t) => {
  const stores = await freshStores(t);
  const names = Object.keys(STORES) as (keyof typeof STORES)[];
  // At the same time, since each run waits until the calls to its silent store time out.
  const runs = names.map(async (name) => {
    const { environment, [name]: proxy } = await startFaultyStores(t, stores, [name]);
    await proxy.setFault('silence');
    const otherStores = names.filter((other) => other !== name).map((other) => STORES[other]);
    const rows = { [STORES[name]]: { result: 'failed' }, ...eachOf(otherStores, { result: 'ok' }) };
    const output = await expectRows(t, environment, rows);
    t.notMatch(output, new RegExp(`^${STORES[name]} \\w`, 'm'), 'the other checks of the store are left out');
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

t.test('reports missing privileges on tables', needsServers, async (t) => {
  const environment = await freshStores(t);
  const query = queriesTo(environment);
  const role = `doctor_${Date.now()}`;
  await query(`create role ${role} login password 'hush'`);
  t.teardown(() => query(`drop owned by ${role}; drop role ${role}`));
  const DATABASE_URL = Object.assign(new URL(environment.DATABASE_URL ?? ''), {
    username: role,
    password: 'hush',
  }).href;
  const withRole = { ...environment, DATABASE_URL };
  const expectPrivileges = (result: string, detail: RegExp) =>
    expectRows(t, postgresOnly(withRole), { 'PostgreSQL privileges': row(result, detail) });

  await query(`grant select on all tables in schema public to ${role}`);
  await expectPrivileges('failed', /^missing: delete on accounts, .*update on posts_id_seq/);
  await query(`grant all on all tables in schema public to ${role}`);
  await query(`grant all on all sequences in schema public to ${role}`);
  await expectPrivileges('ok', /^read and write$/);
  await query("delete from kysely_migration where name >= '0009'");
  const grant = `GRANT CREATE ON SCHEMA public TO ${role}`;
  await expectPrivileges('failed', new RegExp(`^missing: create on schema public, for pending migrations \\(${grant}`));
  await query(grant);
  await expectPrivileges('ok', /^read and write$/);
  const migration = await runCommand(t, ['migrate'], withRole);
  t.same(migration, { code: 1, output: 'must be owner of table outbox\n' }, 'a start names a privilege that it lacks');
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

t.test('warns of a clock that differs', needsServers, async (t) => {
  const environment = postgresOnly(await freshStores(t));
  const shift = 'data:text/javascript,const now = Date.now; Date.now = () => now() %2B 10_000;';
  const behind = row('warning', /^\d+\.\d s behind this machine: .* synchronize both clocks/);
  await expectRows(t, environment, { 'PostgreSQL clock': behind }, ['--import', shift]);
});

t.test('warns of a Redis that may evict counters', needsServers, async (t) => {
  const { REDIS_URL = '', TOKEN_KEYS, DATA_DIR } = await freshStores(t);
  const redis = connectRedis(t, REDIS_URL);
  await redis.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru');
  t.teardown(() => redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'));
  await expectRows(
    t,
    { REDIS_URL, TOKEN_KEYS, DATA_DIR },
    { Redis: row('warning', /allkeys-lru: .* use noeviction$/) },
  );
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
  const two = { 'PostgreSQL connections': row('warning', /^32 needed by 2 processes, 15 allowed/) };
  await expectRows(t, environment, two, [], 2);
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
