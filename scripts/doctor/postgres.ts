import { sql } from 'kysely';
import pg from 'pg';
import { checkInstallation, type Installation } from '../../db/installation.js';
import { findAppliedMigrations, pendingMigrations } from '../../db/migrate.js';
import { readBacklog } from '../../db/outbox/backlog.js';
import { STATEMENT_TIME } from '../../db/postgres/clock.js';
import type { Database } from '../../db/postgres/index.js';
import { migrations } from '../../db/postgres/migrations/index.js';
import { openPostgres, type PostgresOptions } from '../../db/postgres/server.js';
import type { StoresConfig } from '../../db/stores.js';
import {
  CALL_TIMEOUT_MS,
  type CheckResult,
  compareClock,
  failed,
  ok,
  type Row,
  runChecks,
  skipped,
  timedCall,
  warning,
} from './checks.js';

const MIN_VERSION = 15;
const MAX_VERSION = 18;

/** The connections of a process besides those of the two configured pools: maintenance. */
const EXTRA_CONNECTIONS = 2;

const MAX_OUTBOX_AGE_SECONDS = 300;

/** The first migration after which every table and column that is checked here exists. */
const REQUIRED_MIGRATION = '0003-moved';

/** Checks a PostgreSQL server. Changes nothing. Also returns its installation, if it could be read. */
export async function checkPostgres(
  options: PostgresOptions,
  { neo4j, s3 }: StoresConfig,
): Promise<{ rows: Row[]; installation: Installation | undefined }> {
  const { url } = options;
  const { db, close } = openPostgres({ url, poolSize: 1, graphPoolSize: 1, timeoutMs: CALL_TIMEOUT_MS });
  const kinds = { graph: { kind: neo4j ? 'neo4j' : 'embedded' }, images: { kind: s3 ? 's3' : 'disk' } } as const;
  let installation: Installation | undefined;
  let applied: ReadonlySet<string> = new Set();

  async function readAndCheckMigrations(): Promise<CheckResult> {
    applied = await findAppliedMigrations(db);
    return checkMigrations(applied);
  }

  async function readAndCheckInstallation(): Promise<CheckResult> {
    const row = await db.selectFrom('installation').select('id').executeTakeFirst();
    if (!row) return ok('new: the first start creates it');
    installation = await checkInstallation(db, kinds);
    return ok('graph and image store of the expected kinds, no unfinished move');
  }

  const withTables = (check: (db: Database) => Promise<CheckResult>) => async () =>
    applied.has(REQUIRED_MIGRATION) ? check(db) : skipped('needs the migrations');
  const rows = await runChecks(
    [
      ['PostgreSQL', () => checkServer(db, url)],
      ['PostgreSQL clock', () => compareClock(() => readClock(db))],
      ['PostgreSQL migrations', readAndCheckMigrations],
      ['PostgreSQL permissions', () => checkPermissions(db, pendingMigrations(applied).length > 0)],
      ['PostgreSQL connections', () => checkConnections(db, options)],
      ['PostgreSQL indexes', () => checkIndexes(db)],
      ['outbox', withTables(checkOutbox)],
      ['expired sessions', withTables(checkExpiredSessions)],
      ['installation', withTables(readAndCheckInstallation)],
    ],
    close,
  );
  return { rows, installation };
}

/** Returns a template tag that runs a query and returns its only row. */
const readRow =
  <Row>(db: Database) =>
  async (query: TemplateStringsArray, ...parameters: unknown[]) =>
    (await sql<Row>(query, ...parameters).execute(db)).rows[0] as Row;

async function checkServer(db: Database, url: string): Promise<CheckResult> {
  const { result, duration } = await timedCall(
    () => readRow<{ version: string; major: number; readOnly: boolean }>(db)`
      select current_setting('server_version') as version,
        current_setting('server_version_num')::int / 10000 as major,
        current_setting('transaction_read_only')::bool as "readOnly"`,
  );
  const { host, pathname } = new URL(url);
  const description = `${result.version} at ${host}${pathname}, ${describeTls(url)}, ${duration}`;
  if (result.major < MIN_VERSION) return failed(`${description}: needs version ${MIN_VERSION} to ${MAX_VERSION}`);
  if (result.readOnly) return failed(`${description}: read-only; use the primary server`);
  if (result.major > MAX_VERSION) return warning(`${description}: only tested up to version ${MAX_VERSION}`);
  return ok(description);
}

/** Describes whether connections use TLS. pg never falls back to a connection without it. */
function describeTls(url: string): string {
  const { ssl } = new pg.Client({ connectionString: url }) as { ssl: boolean | { rejectUnauthorized?: boolean } };
  if (!ssl) return 'no TLS';
  return typeof ssl === 'object' && ssl.rejectUnauthorized === false ? 'TLS without verification' : 'TLS';
}

const readClock = async (db: Database) =>
  (await readRow<{ ms: number }>(db)`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`).ms;

function checkMigrations(applied: ReadonlySet<string>): CheckResult {
  const pending = pendingMigrations(applied);
  const newer = [...applied].filter((name) => !(name in migrations));
  if (newer.length > 0 && pending.length > 0) {
    return failed(`applied by another version: ${newer.join(', ')}; missing: ${pending.join(', ')}`);
  }
  if (newer.length > 0)
    return warning(`applied by a later version: ${newer.join(', ')}; expected after a rollback only`);
  if (pending.length === 0) return ok(`all ${applied.size} applied`);
  return warning(`pending: ${pending.join(', ')}; the next start applies them, or npm run migrate`);
}

const TABLES = [
  ...['accounts', 'sessions', 'posts', 'idempotency_keys', 'outbox', 'installation'],
  ...['graph_likes', 'graph_like_counts', 'graph_friendships'],
];
/** The sequences that the service also reads and raises itself. Inserts into identity columns need no privilege on them. */
const SEQUENCES = ['accounts_id_seq', 'posts_id_seq'];

/** Queries privileges without using them. */
async function checkPermissions(db: Database, mustMigrate: boolean): Promise<CheckResult> {
  const { schema, canCreate } = await readRow<{ schema: string | null; canCreate: boolean }>(db)`
    select current_schema() as schema, has_schema_privilege(current_schema(), 'create') as "canCreate"`;
  if (schema === null) return failed('no schema of the search path exists');
  const { rows } = await sql<{ name: string; isOwner: boolean; missing: string[] }>`
    select relname as name, pg_has_role(relowner, 'usage') as "isOwner",
      array(
        select privilege from unnest(case relkind
          when 'r' then array['select', 'insert', 'update', 'delete'] else array['usage', 'update'] end) privilege
        where not case relkind
          when 'r' then has_table_privilege(oid, privilege) else has_sequence_privilege(oid, privilege) end
      ) as missing
    from pg_class
    where relnamespace = to_regnamespace(quote_ident(${schema})) and relkind in ('r', 'S')
      and relname = any(${[...TABLES, ...SEQUENCES]})
    order by relname`.execute(db);
  const missing = rows.flatMap((row) => row.missing.map((privilege) => `${privilege} on ${row.name}`));
  if (missing.length > 0) return failed(`missing: ${missing.join(', ')}`);
  if (canCreate && rows.every(({ isOwner }) => isOwner)) return ok(`read, write and migrate in schema ${schema}`);
  const lacking = canCreate ? 'ownership of the tables' : `create in schema ${schema}`;
  if (mustMigrate) return failed(`missing: ${lacking}, which the pending migrations need`);
  return warning(`read and write only; run npm run migrate with a role that has ${lacking}`);
}

async function checkConnections(db: Database, { poolSize, graphPoolSize }: PostgresOptions): Promise<CheckResult> {
  // A negative limit of a role or database means no limit.
  const { available } = await readRow<{ available: number }>(db)`
    select least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (select nullif(greatest(rolconnlimit, -1), -1) from pg_roles where rolname = current_user),
      (select nullif(greatest(datconnlimit, -1), -1) from pg_database where datname = current_database())
    ) as available`;
  const needed = poolSize + graphPoolSize + EXTRA_CONNECTIONS;
  const description = `${needed} needed by each process, ${available} allowed for all clients`;
  if (needed <= available) return ok(description);
  return warning(`${description}: raise max_connections, or lower DATABASE_POOL (unless PgBouncer shares connections)`);
}

async function checkIndexes(db: Database): Promise<CheckResult> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
    where not indisvalid and relnamespace = to_regnamespace(quote_ident(current_schema()))`.execute(db);
  if (rows.length === 0) return ok('all valid');
  return failed(`invalid: ${rows.map(({ name }) => name).join(', ')}; run reindex index for each`);
}

async function checkOutbox(db: Database): Promise<CheckResult> {
  const late = [];
  let total = 0;
  for (const { kind, waiting, overdue, ageSeconds } of await readBacklog(db)) {
    total += waiting;
    const isLate = ageSeconds > MAX_OUTBOX_AGE_SECONDS;
    if (isLate) late.push(`${overdue} of kind ${kind}, the oldest for ${Math.round(ageSeconds / 60)} min`);
  }
  if (late.length === 0) return ok(`${total} entries waiting`);
  return warning(`overdue: ${late.join('; ')}. Is the service running, and its graph and image store available?`);
}

/** Finds sessions that a running service would have purged: it purges every ten minutes. */
async function checkExpiredSessions(db: Database): Promise<CheckResult> {
  const { count } = await readRow<{ count: number }>(db)`
    select count(*) as count from sessions where expires_at < ${STATEMENT_TIME} - interval '1 hour'`;
  if (count === 0) return ok('purged');
  return warning(`${count} expired more than an hour ago: no running service purges them`);
}
