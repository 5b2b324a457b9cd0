import { sql } from 'kysely';
import t from 'tap';
import { migrations } from '../db/postgres/migrations/index.js';
import { openBareStores } from '../db/stores/index.js';
import { readConfig } from '../handlers/config/index.js';
import { runCommand } from './support/processes.js';
import { createPost, startTestService } from './support/service.js';
import { freshStores, silentLog, temporaryDirectory } from './support/stores.js';

t.test('this version starts and serves after a later version has migrated the database', async (t) => {
  const later = await startTestService(t, await freshStores(t));
  const { token } = await later.createUser();
  await sql`alter table accounts add column later text`.execute(later.stores.db);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(later.stores.db);
  await later.stop();

  const environment = { ...later.environment, LOG_LEVEL: 'silent' };
  t.same(await runCommand(t, ['migrate'], environment), { code: 0, output: 'up to date\n' });
  const service = await startTestService(t, later.environment);
  t.equal((await service.send('GET', '/auth/me', { token })).status, 200, 'tokens of the later version are valid');
  const user = await service.createUser();
  const post = await createPost(user);
  t.equal((await user.send('GET', `/posts/${post.id}`)).status, 200);
});

interface Column {
  name: string;
  type: string;
  nullable: boolean;
  optional: boolean;
}

t.test('no migration removes or changes a column, or adds a required column to a table', async (t) => {
  const { stores } = readConfig({ DATA_DIR: await temporaryDirectory(t) });
  const { maintenanceDb: db, close } = await openBareStores(stores, silentLog);
  t.teardown(close);
  const readColumns = async () => {
    const { rows } = await sql<Column>`
      select table_name || '.' || column_name as name, data_type as type, is_nullable = 'YES' as nullable,
        is_nullable = 'YES' or column_default is not null or is_identity = 'YES' as optional
      from information_schema.columns where table_schema = 'public'`.execute(db);
    return new Map(rows.map((column) => [column.name, column]));
  };
  const tableOf = (name: string) => name.split('.')[0];

  let before = new Map<string, Column>();
  for (const [migration, { up }] of Object.entries(migrations)) {
    await db.transaction().execute(up);
    const after = await readColumns();
    const changed = [...before.values()].filter(({ name, type, nullable }) => {
      const column = after.get(name);
      return column?.type !== type || (nullable && !column.nullable);
    });
    t.same(changed, [], `${migration} keeps all columns`);
    const tablesBefore = new Set([...before.keys()].map(tableOf));
    const added = [...after.values()].filter(({ name }) => tablesBefore.has(tableOf(name)) && !before.has(name));
    const required = added.filter(({ optional }) => !optional);
    t.same(required, [], `after ${migration}, the previous version can insert rows`);
    before = after;
  }
  t.ok(before.size > 30);
});
