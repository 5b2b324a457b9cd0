import pg from 'pg';
import type { PostgresOptions } from '../../db/postgres/server.js';
import { pendingMigrations } from '../../db/stores/migrate.js';
import { CALL_TIMEOUT_MS, type CheckResult, type CheckRow, countOf, failed, ok, runChecks, warning } from './checks.js';

const MIN_VERSION = 15;
const MAX_VERSION = 18;

/** The connections of a process besides those of the two configured pools: maintenance. */
const EXTRA_CONNECTIONS = 2;

/** A smaller difference between clocks is common and harmless. */
const MAX_SKEW_MS = 2000;

/** Checks a PostgreSQL server. Changes nothing. */
export async function checkPostgres(options: PostgresOptions, processes?: number): Promise<CheckRow[]> {
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: CALL_TIMEOUT_MS,
    query_timeout: CALL_TIMEOUT_MS,
  });
  // Without a listener, a lost connection would end the process. The queries fail anyway.
  client.on('error', () => undefined);
  return runChecks(
    ['PostgreSQL', () => client.connect().then(() => checkServer(client, options.url))],
    ['PostgreSQL clock', () => compareClock(client)],
    ['PostgreSQL connections', () => checkConnections(client, options, processes)],
    ['PostgreSQL privileges', () => checkPrivileges(client)],
  );
}

async function checkServer(client: pg.Client, url: string): Promise<CheckResult> {
  const { rows } = await client.query(`
    select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major,
      current_setting('transaction_read_only')::bool as "readOnly"`);
  const { version, major, readOnly } = rows[0];
  const { host, pathname } = new URL(url);
  const description = `${version} at ${host}${pathname}`;
  if (major < MIN_VERSION) return failed(`${description}: needs version ${MIN_VERSION} to ${MAX_VERSION}`);
  if (readOnly) return failed(`${description}: read-only; use the primary server`);
  return major > MAX_VERSION ? warning(`${description}: only tested up to version ${MAX_VERSION}`) : ok(description);
}

/** Compares the server's clock, which decides whether a session has expired, with this machine's, which issues tokens. */
async function compareClock(client: pg.Client): Promise<CheckResult> {
  const before = Date.now();
  const { rows } = await client.query('select extract(epoch from clock_timestamp())::float8 * 1000 as ms');
  const after = Date.now();
  // The server read its clock at an unknown time between `before` and `after`.
  const skewMs = rows[0].ms - (before + after) / 2;
  const description = `${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine`;
  if (Math.abs(skewMs) - (after - before) / 2 <= MAX_SKEW_MS) return ok(description);
  return warning(`${description}: sessions expire at the wrong time; synchronize both clocks (NTP)`);
}

async function checkConnections(
  client: pg.Client,
  { poolSize, graphPoolSize }: PostgresOptions,
  processes?: number,
): Promise<CheckResult> {
  // A negative limit of a role or database means no limit.
  const { rows } = await client.query(`
    select least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (select nullif(greatest(rolconnlimit, -1), -1) from pg_roles where rolname = current_user),
      (select nullif(greatest(datconnlimit, -1), -1) from pg_database where datname = current_database())
    ) as available`);
  const { available } = rows[0];
  const needed = (processes ?? 1) * (poolSize + graphPoolSize + EXTRA_CONNECTIONS);
  const description = `${needed} needed by ${countOf(processes)}, ${available} allowed for all clients`;
  if (needed <= available) return ok(description);
  return warning(`${description}: raise max_connections, or lower DATABASE_POOL (unless PgBouncer shares connections)`);
}

/** The tables, and the sequences that the service also reads. Inserts into identity columns need no privilege on a sequence. */
const TABLES_AND_SEQUENCES = [
  ...['accounts', 'sessions', 'posts', 'idempotency_keys', 'outbox', 'installation', 'accounts_id_seq', 'posts_id_seq'],
  ...['operator_log', 'graph_likes', 'graph_like_counts', 'graph_friendships'],
];

/** Finds missing privileges on tables that exist, of which a start only needs some, and to create those that do not. */
async function checkPrivileges(client: pg.Client): Promise<CheckResult> {
  const query = `
    select privilege || ' on ' || relname as missing
    from pg_class, unnest(case relkind
      when 'r' then array['select', 'insert', 'update', 'delete'] else array['usage', 'update'] end) privilege
    where relnamespace = to_regnamespace(quote_ident(current_schema())) and relname = any($1) and not case relkind
      when 'r' then has_table_privilege(oid, privilege) else has_sequence_privilege(oid, privilege) end
    order by relname, privilege`;
  const { rows } = await client.query(query, [TABLES_AND_SEQUENCES]);
  const missing = [...rows.map((row) => row.missing), ...(await missingForMigrations(client))];
  return missing.length > 0 ? failed(`missing: ${missing.join(', ')}`) : ok('read and write');
}

/** Finds what the role lacks to apply pending migrations. Since PostgreSQL 15, only the owner may create tables in `public`. */
async function missingForMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(`
    select quote_ident(current_schema()) as schema, quote_ident(current_user) as role,
      has_schema_privilege(current_schema(), 'create') as "canCreate", to_regclass('kysely_migration') as migrations`);
  const { schema, role, canCreate, migrations } = rows[0];
  const applied = migrations ? (await client.query('select name from kysely_migration')).rows : [];
  if (pendingMigrations(new Set(applied.map(({ name }) => name))).length === 0 || canCreate) return [];
  if (schema === null) return ['a schema of the search_path that this role may use'];
  return [`create on schema ${schema}, for pending migrations (GRANT CREATE ON SCHEMA ${schema} TO ${role})`];
}
