import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { migratePostgres } from '../../db/migrate.js';
import { migrations } from '../../db/postgres/migrations/index.js';
import { openBareStores } from '../../db/stores.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { readConfig } from '../../handlers/config/index.js';
import { runCommand } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { recordStatements } from '../support/statements.js';
import {
  emptyGraph,
  freshDataDirectory,
  freshStores,
  needsServers,
  queryDatabase,
  queryGraph,
  silentLog,
  temporaryDirectory,
} from '../support/stores.js';

const migrate = (t: Test, environment: NodeJS.ProcessEnv) => runCommand(t, ['migrate'], environment);

const applied = Object.keys(migrations).map((name) => `${name} applied\n`);

t.test('prints each migration that it applies, and applies it once', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: applied.join('') });
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: 'up to date\n' });
  const service = await startTestService(t, { DATA_DIR });
  t.equal((await service.createUser()).id, 1);
});

t.test('reports in one line a data directory in use, a bad variable or an unavailable server', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const running = await startTestService(t, { DATA_DIR });
  const unavailable = {
    DATA_DIR: await temporaryDirectory(t),
    DATABASE_URL: 'postgres://somebody:Secret-Word@127.0.0.1:9/none',
    TOKEN_KEYS: 'one:4c1d9e7b03f86a52e0b7d4916fc3a825',
    LOG_LEVEL: 'silent',
  };
  const refused: [environment: NodeJS.ProcessEnv, line: RegExp][] = [
    [
      { DATA_DIR },
      /^\S+ is in use by process \d+ of this service: stop it first, or set DATA_DIR to another directory\n$/,
    ],
    [{ DATA_DIR, TOKEN_TTL: 'soon' }, /^TOKEN_TTL: [^\n]+\n$/],
    [unavailable, /^The postgres store is not available: connect ECONNREFUSED [^\n]*\n$/],
  ];
  for (const [environment, line] of refused) {
    const { code, output } = await migrate(t, environment);
    t.equal(code, 1);
    t.match(output, line);
    t.notMatch(output, 'Secret-Word');
  }
  await running.stop();
});

/** Returns real stores without any schema. */
async function storesWithoutSchema(t: Test): Promise<NodeJS.ProcessEnv & { DATABASE_URL: string }> {
  const stores = await freshStores(t);
  const DATABASE_URL = stores.DATABASE_URL ?? '';
  await queryDatabase(DATABASE_URL, 'drop schema public cascade; create schema public');
  await emptyGraph();
  for (const { name } of await queryGraph('SHOW CONSTRAINTS YIELD name'))
    await queryGraph(`DROP CONSTRAINT \`${name}\``);
  return { ...stores, DATABASE_URL };
}

/** Checks that the schema is complete, and that one installation has claimed all stores. */
async function expectMigrated(t: Test, { DATABASE_URL }: { DATABASE_URL: string }) {
  const { rows } = await queryDatabase(DATABASE_URL, 'select name from kysely_migration order by name');
  const applied = rows.map(({ name }) => name);
  t.same(applied, Object.keys(migrations));
  const { rows: installations } = await queryDatabase(DATABASE_URL, 'select id::text, graph, images from installation');
  t.match(installations, [{ graph: 'neo4j', images: 's3' }]);
  const constraints = (await queryGraph("SHOW CONSTRAINTS YIELD name, type WHERE type = 'UNIQUENESS'")).map(
    ({ name }) => name,
  );
  for (const name of ['person_id', 'post_id']) t.ok(constraints.includes(name), `${name} exists`);
  t.same(await queryGraph('MATCH (i:Installation) RETURN i.id AS id'), [{ id: installations[0].id }]);
}

t.test('ten concurrent migrations of empty servers succeed, and apply each migration once', needsServers, async (t) => {
  const stores = await storesWithoutSchema(t);
  const runs = await Promise.all(Array.from({ length: 10 }, () => migrate(t, stores)));
  const codes = runs.map(({ code }) => code);
  t.same(codes, Array(10).fill(0), { output: runs.map(({ output }) => output) });
  const lines = runs.flatMap(({ output }) => output.split('\n')).filter((line) => line.endsWith(' applied'));
  t.same(lines.map((line) => `${line}\n`).sort(), applied);
  await expectMigrated(t, stores);
});

t.test('a migration that waits for a table fails soon, so that no service waits for it', needsServers, async (t) => {
  const stores = await freshStores(t);
  const { maintenanceDb: db, close } = await openBareStores(readConfig(stores).stores, silentLog);
  t.teardown(close);
  await sql`drop index outbox_kind_due`.execute(db);
  await sql`create index outbox_due on outbox (due_at)`.execute(db);
  await sql`delete from kysely_migration where name like '0009%'`.execute(db);
  const statements = recordStatements(t);
  await db.transaction().execute(async (dump) => {
    await sql`lock table outbox in access share mode`.execute(dump);
    await t.rejects(migratePostgres(db), StoreUnavailableError);
  });
  t.same(await migratePostgres(db), ['0009-outbox-kind-index']);
  t.notOk(
    statements.some(({ text }) => /pg_advisory_(un)?lock/.test(text)),
    'no lock of a session',
  );
});
