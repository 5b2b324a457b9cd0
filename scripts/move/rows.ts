import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import type { Tables } from '../../db/schema.js';
import type { Progress } from '../../db/support/progress.js';
import type { Found } from './found.js';

interface Table {
  name: keyof Tables;
  /** By what its rows are ordered. Text by its bytes: two PostgreSQLs may sort it by different languages. */
  key: RawBuilder<unknown>[];
  /** Below every key. */
  first: Key;
}

type Key = (number | string)[];

interface Row {
  key: Key;
  /** All columns, as JSON: every PostgreSQL writes and reads that alike, to the last digit of a time. */
  content: string;
}

/** In an order in which a row's references are there before it. The graph's tables are the graph's to carry. */
const TABLES: readonly Table[] = [
  { name: 'accounts', key: [sql`id`], first: [0] },
  { name: 'posts', key: [sql`id`], first: [0] },
  { name: 'outbox', key: [sql`id`], first: [0] },
  { name: 'idempotency_keys', key: [sql`account_id`, sql`key collate "C"`], first: [0, ''] },
  { name: 'sessions', key: [sql`account_id`, sql`id collate "C"`], first: [0, ''] },
];

/** A row has some 40 KB at most. */
const PAGE = 500;

/** What counts the ids of its table. */
const SEQUENCES = ['accounts_id_seq', 'posts_id_seq', 'outbox_id_seq'];

/** Whether there is nothing in this PostgreSQL that a move could get mixed up with, its tables made or not. */
export async function isEmpty(db: Database): Promise<boolean> {
  for (const name of [...TABLES.map(({ name }) => name), 'graph_likes', 'graph_friendships']) {
    const { rows: tables } = await sql`select where to_regclass(${name}) is not null`.execute(db);
    if (tables.length === 0) continue;
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return false;
  }
  return true;
}

/** Copies what is not there yet. A page goes whole or not at all, so the last row there is where an earlier try has ended. */
export async function carryRows(source: Database, target: Database, progress: Progress): Promise<void> {
  for (const table of TABLES) {
    const total = await count(source, table);
    let done = await count(target, table);
    let after = await lastKey(target, table);
    for (;;) {
      progress(`copying ${table.name}`, done, total);
      const page = await readPage(source, table, after);
      if (page.length === 0) break;
      await insert(target, table, page);
      after = page.at(-1)?.key ?? after;
      done += page.length;
    }
  }
  for (const name of SEQUENCES) {
    const { last_value, is_called } = await readSequence(source, name);
    await sql`select setval(${name}, ${last_value}::int8, ${is_called})`.execute(target);
  }
}

export async function compareRows(source: Database, target: Database, progress: Progress, found: Found): Promise<void> {
  for (const table of TABLES) {
    const total = await count(source, table);
    let done = 0;
    let after: Key | undefined = table.first;
    while (after) {
      progress(`comparing ${table.name}`, done, total);
      const page: Row[] = await readPage(source, table, after);
      const end: Key | undefined = page.length === PAGE ? page.at(-1)?.key : undefined;
      comparePages(table, page, await readPage(target, table, after, end), found);
      after = end;
      done += page.length;
    }
    progress(`comparing ${table.name}`, done, total);
  }
  for (const name of SEQUENCES) {
    const [ours, theirs] = await Promise.all([readSequence(source, name), readSequence(target, name)]);
    if (ours.last_value !== theirs.last_value || ours.is_called !== theirs.is_called) found(`${name} differs`);
  }
}

function comparePages({ name }: Table, ours: readonly Row[], theirs: readonly Row[], found: Found): void {
  const contents = new Map(theirs.map(({ key, content }) => [key.join(' '), content]));
  for (const { key, content } of ours) {
    const row = key.join(' ');
    const there = contents.get(row);
    if (there !== content) found(`${name} ${row} ${there === undefined ? 'is missing' : 'differs'}`);
    contents.delete(row);
  }
  for (const row of contents.keys()) found(`${name} ${row} is too much`);
}

async function count(db: Database, { name }: Table): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(name)}`.execute(db);
  return rows[0]?.count ?? 0;
}

async function lastKey(db: Database, { name, key, first }: Table): Promise<Key> {
  const { rows } = await sql<{ key: Key }>`
    select jsonb_build_array(${sql.join(key)}) as key from ${sql.table(name)}
    order by ${sql.join(key.map((column) => sql`${column} desc`))} limit 1`.execute(db);
  return rows[0]?.key ?? first;
}

/** The next rows after a key; given an end, those up to it, of which there may be more than a page in a target gone wrong. */
async function readPage(db: Database, { name, key, first }: Table, after: Key, end?: Key): Promise<Row[]> {
  const columns = sql.join(key);
  return db.transaction().execute(async (trx) => {
    await sql`set local time zone 'UTC'`.execute(trx);
    const { rows } = await sql<Row>`
      select jsonb_build_array(${columns}) as key, to_jsonb(t)::text as content
      from ${sql.table(name)} t
      where (${columns}) > (${sql.join(after)}) and (${end === undefined} or (${columns}) <= (${sql.join(end ?? first)}))
      order by ${columns} limit ${end ? 2 * PAGE : PAGE}`.execute(trx);
    return rows;
  });
}

async function insert(db: Database, { name }: Table, rows: readonly Row[]): Promise<void> {
  const table = sql.table(name);
  const contents = `[${rows.map(({ content }) => content).join()}]`;
  await sql`insert into ${table} select * from jsonb_populate_recordset(null::${table}, ${contents}::jsonb)`.execute(
    db,
  );
}

interface Sequence {
  last_value: number;
  is_called: boolean;
}

async function readSequence(db: Database, name: string): Promise<Sequence> {
  const { rows } = await sql<Sequence>`select last_value, is_called from ${sql.table(name)}`.execute(db);
  return rows[0] ?? { last_value: 1, is_called: false };
}
