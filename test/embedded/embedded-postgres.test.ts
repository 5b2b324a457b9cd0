import { hash, randomBytes } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { PreparedStatementClient } from '../../db/postgres/client.js';
import { startEmbeddedServer } from '../../db/postgres/embedded/server.js';
import { openEmbeddedPostgres } from '../../db/postgres/embedded.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { startLoad } from '../support/load.js';
import { expectRefusedStart, parseLog } from '../support/processes.js';
import { createPost, startTestService } from '../support/service.js';
import { repeat } from '../support/store-fixtures.js';
import { freshDataDirectory, onServices, silentLog, temporaryDirectory } from '../support/stores.js';
import { retryWhileUnavailable, until } from '../support/until.js';

const needsEmbedded = { skip: onServices && 'applies only to embedded stores' };

/** The worker threads of this process, in the order in which they started. */
const threads: Worker[] = [];
subscribe('worker_threads', (message) => threads.push((message as { worker: Worker }).worker));

const endThread = () => threads.at(-1)?.terminate();

/** Opens PostgreSQL on an empty database. It is closed when the test ends. */
async function openFreshPostgres(t: Test) {
  const directory = join(await freshDataDirectory(t), 'postgres');
  const postgres = await openEmbeddedPostgres(directory, silentLog);
  t.teardown(postgres.close);
  return postgres;
}

t.test('PostgreSQL is configured to sync every commit, and to use little memory', needsEmbedded, async (t) => {
  const { db } = await openFreshPostgres(t);
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings
    where name in ('fsync', 'wal_sync_method', 'synchronous_commit', 'full_page_writes', 'shared_buffers')`.execute(db);
  t.same(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    fsync: 'on',
    wal_sync_method: 'fsync',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // In blocks of 8 KiB.
    shared_buffers: '4096',
  });
});

t.test('a database is created in another process; if that fails, the error says why', needsEmbedded, async (t) => {
  const before = threads.length;
  const root = await temporaryDirectory(t);
  const { close } = await openEmbeddedPostgres(join(root, 'postgres'), silentLog);
  await close();
  t.equal(threads.length, before + 1, 'one thread has opened the database');
  const message = /^The database in \S+ cannot be opened: ENOENT: .+\. It was not overwritten/s;
  await t.rejects(openEmbeddedPostgres(join(root, 'missing', 'postgres'), silentLog), { message });
});

t.test('a long statement does not block the event loop', needsEmbedded, async (t) => {
  const { db } = await openFreshPostgres(t);
  let isDone = false;
  let turns = 0;
  const statement = sql`select count(*) from generate_series(1, 500000)`.execute(db).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turns += 1;
    await new Promise(setImmediate);
  }
  await statement;
  t.ok(turns > 10, `${turns} turns of the event loop`);
});

t.test('a transaction is not interleaved with other statements', needsEmbedded, async (t) => {
  const { db } = await openFreshPostgres(t);
  await sql`create table counters (value int)`.execute(db);
  await sql`insert into counters values (0)`.execute(db);
  const increment = () =>
    db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ value: number }>`select value from counters`.execute(trx);
      await new Promise(setImmediate);
      await sql`update counters set value = ${(rows[0]?.value ?? 0) + 1}::int`.execute(trx);
    });
  await Promise.all(Array.from({ length: 50 }, increment));
  t.same((await sql`select value from counters`.execute(db)).rows, [{ value: 50 }]);
});

t.test(
  'statements fail as unavailable when the thread ends, and another thread takes over',
  needsEmbedded,
  async (t) => {
    const { db } = await openFreshPostgres(t);
    const transaction = db.transaction().execute(async (trx) => {
      await sql`create table never (id int)`.execute(trx);
      await endThread();
      await sql`insert into never values (1)`.execute(trx);
    });
    await t.rejects(transaction, StoreUnavailableError);
    await retryWhileUnavailable(() => sql`select 1`.execute(db));
    const rows = (await sql`select to_regclass('never') as found`.execute(db)).rows;
    t.same(rows, [{ found: null }], 'the transaction was rolled back');
  },
);

t.test('replaces a thread in which PostgreSQL has exited', needsEmbedded, async (t) => {
  const { db } = await openFreshPostgres(t);
  await sql`create table kept (id int)`.execute(db);
  const before = threads.length;
  const { port1, port2 } = new MessageChannel();
  threads.at(-1)?.postMessage({ kind: 'connect', port: port2 }, [port2]);
  // PostgreSQL exits on this invalid message.
  port1.postMessage(new Uint8Array([1, 0, 0, 0, 4]));
  await once(port1, 'close');
  await retryWhileUnavailable(() => sql`insert into kept values (1)`.execute(db));
  t.same((await sql`select id from kept`.execute(db)).rows, [{ id: 1 }]);
  t.equal(threads.length, before + 1);
});

t.test('acknowledged writes survive the end of the thread, and others return 503', needsEmbedded, async (t) => {
  const service = await startTestService(t);
  const statuses = new Set<number>();
  const users = await repeat(4, async () => {
    const { id, send } = await service.createUser();
    const sendAndRecord: typeof send = async (...request) => {
      const response = await send(...request);
      statuses.add(response.status);
      return response;
    };
    return { id, send: sendAndRecord };
  });
  const { posts, untilMoreCreated, stop } = startLoad(users);
  for (let round = 0; round < 3; round += 1) {
    await untilMoreCreated(12);
    await endThread();
    await retryWhileUnavailable(() => sql`select 1`.execute(service.stores.db));
  }
  await stop();
  const serverErrors = [...statuses].filter((status) => status >= 500);
  t.same(serverErrors, [503]);
  const rows = await service.stores.db.selectFrom('posts').select(['id', 'title']).execute();
  const titles = new Map(rows.map(({ id, title }) => [id, title]));
  for (const { id, title } of posts) t.equal(titles.get(id), title, `post ${id}`);
  t.equal(new Set(titles.values()).size, rows.length, 'no post was created twice');
});

t.test('opens a database whose lock file is empty, as after a power cut', needsEmbedded, async (t) => {
  const directory = join(await freshDataDirectory(t), 'postgres');
  await writeFile(join(directory, 'postmaster.pid'), '');
  const { close } = await openEmbeddedPostgres(directory, silentLog);
  await close();
  t.pass('it opens');
});

t.test('a new connection releases the locks of the previous one, also in a transaction', needsEmbedded, async (t) => {
  const server = await startEmbeddedServer(join(await freshDataDirectory(t), 'postgres'), silentLog);
  t.teardown(server.close);
  const connect = async () => {
    const client = new PreparedStatementClient({
      stream: server.createConnection,
      user: 'postgres',
      database: 'postgres',
    });
    // The end of the thread ends the connections.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const first = await connect();
  await first.query('begin');
  await first.query('select pg_advisory_lock($1)', [1]);
  const second = await connect();
  const { rows } = await second.query('select pg_advisory_unlock($1) as locked', [1]);
  t.same(rows, [{ locked: false }]);
});

t.test('/readyz reports an unavailable database, and no new one is created', needsEmbedded, async (t) => {
  const service = await startTestService(t);
  const user = await service.createUser();
  const post = await createPost(user);
  const directory = join(service.environment.DATA_DIR ?? '', 'postgres');
  const ready = async () => (await fetch(`${service.opsUrl}/readyz`)).status;
  t.equal(await ready(), 200);
  await rename(directory, `${directory}.unavailable`);
  await endThread();
  t.equal(await ready(), 503);
  const refused = await service.send('GET', '/posts', { token: user.token });
  t.equal(refused.status, 503);
  t.ok(refused.headers.has('retry-after'));
  for (const path of ['/docs', '/openapi.json']) t.equal((await fetch(service.url + path)).status, 200, path);
  const failures = () => parseLog(service.logged()).filter(({ msg }) => msg.includes('could not be started'));
  await until(() => failures().length >= 3);
  const [first, , third] = failures();
  t.ok(third?.time - first?.time >= 700, 'waits of 250 and 500 ms before two restarts');
  t.notOk(existsSync(directory));
  await rename(`${directory}.unavailable`, directory);
  await until(async () => (await ready()) === 200);
  t.same((await user.send('GET', '/posts')).body, [post]);
});

/** Returns, by path, the hash of each file of the database, and 'directory' for each directory. */
async function snapshot(dataDir: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!path.startsWith(join(dataDir, 'postgres'))) continue;
    files[path] = entry.isFile() ? hash('sha256', await readFile(path)) : 'directory';
  }
  return files;
}

async function removeWal(postgres: string): Promise<void> {
  const log = join(postgres, 'pg_wal');
  for (const name of await readdir(log)) if (/^[0-9A-F]{24}$/.test(name)) await rm(join(log, name));
}

async function replaceByFile(postgres: string): Promise<void> {
  await rm(postgres, { recursive: true });
  await writeFile(postgres, '');
}

/** Ways in which a database directory can be damaged, each with the resulting error message. */
const CORRUPTIONS: [name: string, corrupt: (postgres: string) => Promise<unknown>, message: RegExp][] = [
  ['a file in its place', replaceByFile, /no such directory/],
  ['no PG_VERSION', (postgres) => rm(join(postgres, 'PG_VERSION')), /PG_VERSION is missing/],
  ['another version', (postgres) => writeFile(join(postgres, 'PG_VERSION'), '16\n'), /PG_VERSION is "16", but this is/],
  [
    'a pg_control with other bytes',
    (postgres) => writeFile(join(postgres, 'global/pg_control'), randomBytes(8192)),
    /pg_control|control file|database files are incompatible/,
  ],
  ['no write-ahead log', removeWal, /checkpoint record/],
];

for (const [name, corrupt, message] of CORRUPTIONS) {
  t.test(`a start on a damaged directory prints one line and changes nothing: ${name}`, needsEmbedded, async (t) => {
    const DATA_DIR = await freshDataDirectory(t);
    await corrupt(join(DATA_DIR, 'postgres'));
    const before = await snapshot(DATA_DIR);
    const line = await expectRefusedStart(t, { DATA_DIR }, message);
    t.match(line, /^The database in .+ cannot be opened: .+ restore a backup /);
    t.same(await snapshot(DATA_DIR), before);
  });
}
