import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { MIGRATION_LOCK_KEY } from '../../db/postgres/locks.js';
import { migrations } from '../../db/postgres/migrations/index.js';
import { openBareStores } from '../../db/stores/index.js';
import { migratePostgres, prepareDatabase, prepareGraph, prepareImageStore } from '../../db/stores/migrate.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { readConfig } from '../../handlers/config/index.js';
import { runCommand } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { recordStatements } from '../support/statements.js';
import {
  emptyGraph,
  freshStores,
  needsServers,
  queryDatabase,
  queryGraph,
  silentLog,
  temporaryDirectory,
} from '../support/stores.js';
import { until } from '../support/until.js';

const migrate = (t: Test, environment: NodeJS.ProcessEnv) => runCommand(t, ['migrate'], environment);

const applied = Object.keys(migrations).map((name) => `${name} applied\n`);

t.test('applies each migration once, and prints its name', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: applied.join('') });
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: 'up to date\n' });
  const service = await startTestService(t, { DATA_DIR });
  t.equal((await service.createUser()).id, 1);
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
  const names = rows.map(({ name }) => name);
  t.same(names, Object.keys(migrations));
  const { rows: installations } = await queryDatabase(DATABASE_URL, 'select id::text, graph, images from installation');
  t.match(installations, [{ graph: 'neo4j', images: 's3' }]);
  const constraints = await queryGraph(
    `SHOW CONSTRAINTS YIELD name, type
     WHERE type = 'UNIQUENESS' AND name IN ['person_id', 'post_id'] RETURN name ORDER BY name`,
  );
  t.same(constraints, [{ name: 'person_id' }, { name: 'post_id' }]);
  t.same(await queryGraph('MATCH (i:Installation) RETURN i.id AS id'), [{ id: installations[0].id }]);
}

t.test('concurrent migrations of empty servers succeed, and apply each migration once', needsServers, async (t) => {
  const stores = await storesWithoutSchema(t);
  const runs = await Promise.all(Array.from({ length: 4 }, () => migrate(t, stores)));
  const codes = runs.map(({ code }) => code);
  t.same(codes, [0, 0, 0, 0], { output: runs.map(({ output }) => output) });
  const lines = runs.flatMap(({ output }) => output.split('\n')).filter((line) => line.endsWith(' applied'));
  t.same(lines.map((line) => `${line}\n`).sort(), applied);
  await expectMigrated(t, stores);
});

t.test('the graph and the image store are claimed only under the migration lock', needsServers, async (t) => {
  const stores = await openBareStores(readConfig(await storesWithoutSchema(t)).stores, silentLog);
  t.teardown(stores.close);
  await prepareDatabase(stores);
  for (const [prepare, store] of [
    [prepareGraph, stores.graph],
    [prepareImageStore, stores.images],
  ] as const) {
    const { preparing } = await stores.maintenanceDb.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`.execute(trx);
      const preparing = prepare(stores);
      const isWaiting = sql`
        select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      await until(
        async () => (await isWaiting.execute(trx)).rows.length > 0 || (await store.claimedBy()) !== undefined,
      );
      t.equal(await store.claimedBy(), undefined);
      return { preparing };
    });
    await preparing;
    t.ok(await store.claimedBy());
  }
});

t.test('a migration that has to wait for a table fails soon, and succeeds later', needsServers, async (t) => {
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
    'no session-level advisory lock is used, because a connection pooler would not keep the session',
  );
});
