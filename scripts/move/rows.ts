import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/postgres/index.js';
import type { Tables } from '../../db/schema.js';
import type { Progress } from '../support/progress.js';
import type { MoveStores } from './stores.js';

/** Receives a difference between source and target, described by ids and names, without content. */
export type OnDifference = (difference: string) => void;

interface Table {
  name: keyof Tables;
  /** The unique columns that order the rows. Text uses the C collation, because the default may differ between servers. */
  keyColumns: RawBuilder<unknown>[];
  /** Lower than every key. */
  minKey: Key;
}

type Key = (number | string)[];

interface Row {
  key: Key;
  /** All columns as JSON, which represents values without loss on every PostgreSQL version. */
  content: string;
}

/** The tables to copy, referenced ones first. `graph.ts` copies the tables of an embedded graph. */
const TABLES: readonly Table[] = [
  { name: 'accounts', keyColumns: [sql`id`], minKey: [0] },
  { name: 'posts', keyColumns: [sql`id`], minKey: [0] },
  { name: 'outbox', keyColumns: [sql`id`], minKey: [0] },
  { name: 'idempotency_keys', keyColumns: [sql`account_id`, sql`key collate "C"`], minKey: [0, ''] },
  { name: 'sessions', keyColumns: [sql`account_id`, sql`id collate "C"`], minKey: [0, ''] },
];

/** Limits a page to about 20 MB, because a row has up to about 40 KB. */
const ROWS_PER_PAGE = 500;

const SEQUENCES = ['accounts_id_seq', 'posts_id_seq', 'outbox_id_seq'];

/**
 * Returns whether the tables are empty or do not exist. Edges without accounts do not count: a graph in Neo4j does not use
 * them, and otherwise `graph.ts` removes them.
 */
export async function isEmpty(db: Database): Promise<boolean> {
  for (const { name } of TABLES) {
    const { rows: tables } = await sql`select where to_regclass(${name}) is not null`.execute(db);
    if (tables.length === 0) continue;
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return false;
  }
  return true;
}

/**
 * Copies the rows, then the sequences. Continues after the last row of the target, where an earlier run stopped: each page is
 * inserted atomically.
 */
export async function copyRows(stores: MoveStores, progress: Progress): Promise<void> {
  const [source, target] = [stores.source.db, stores.target.db];
  for (const table of TABLES) {
    const total = await countRows(source, table.name);
    let done = await countRows(target, table.name);
    let after = await findLastKey(target, table);
    for (;;) {
      progress(`copying ${table.name}`, done, total);
      const page = await readPage(source, table, after);
      if (page.length === 0) break;
      await insertRows(target, table, page);
      after = page.at(-1)?.key ?? after;
      done += page.length;
    }
  }
  for (const name of SEQUENCES) {
    const { last_value, is_called } = await readSequence(source, name);
    await sql`select setval(${name}, ${last_value}::int8, ${is_called})`.execute(target);
  }
}

export async function compareRows(stores: MoveStores, progress: Progress, onDifference: OnDifference): Promise<void> {
  const [source, target] = [stores.source.db, stores.target.db];
  for (const table of TABLES) {
    const total = await countRows(source, table.name);
    let done = 0;
    let after: Key | undefined = table.minKey;
    while (after) {
      progress(`comparing ${table.name}`, done, total);
      const page: Row[] = await readPage(source, table, after);
      const end: Key | undefined = page.length === ROWS_PER_PAGE ? page.at(-1)?.key : undefined;
      comparePages(table, page, await readPage(target, table, after, end), onDifference);
      after = end;
      done += page.length;
    }
    progress(`comparing ${table.name}`, done, total);
  }
  for (const name of SEQUENCES) {
    const [expected, actual] = await Promise.all([readSequence(source, name), readSequence(target, name)]);
    if (expected.last_value !== actual.last_value || expected.is_called !== actual.is_called) {
      onDifference(`${name} differs`);
    }
  }
}

function comparePages({ name }: Table, sourceRows: Row[], targetRows: Row[], onDifference: OnDifference): void {
  const contents = new Map(targetRows.map(({ key, content }) => [key.join(' '), content]));
  for (const { key, content } of sourceRows) {
    const row = key.join(' ');
    const actual = contents.get(row);
    if (actual !== content) onDifference(`${name} ${row} ${actual === undefined ? 'is missing' : 'differs'}`);
    contents.delete(row);
  }
  for (const row of contents.keys()) onDifference(`${name} ${row} is unexpected`);
}

export async function countRows(db: Database, table: keyof Tables): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? 0;
}

async function findLastKey(db: Database, { name, keyColumns, minKey }: Table): Promise<Key> {
  const { rows } = await sql<{ key: Key }>`
    select jsonb_build_array(${sql.join(keyColumns)}) as key from ${sql.table(name)}
    order by ${sql.join(keyColumns.map((column) => sql`${column} desc`))} limit 1`.execute(db);
  return rows[0]?.key ?? minKey;
}

/**
 * Returns a page of rows after a key. With `end`, returns up to two pages of rows up to that key, so that unexpected rows
 * are found.
 */
async function readPage(db: Database, { name, keyColumns, minKey }: Table, after: Key, end?: Key): Promise<Row[]> {
  const columns = sql.join(keyColumns);
  return db.transaction().execute(async (trx) => {
    await sql`set local time zone 'UTC'`.execute(trx);
    const { rows } = await sql<Row>`
      select jsonb_build_array(${columns}) as key, to_jsonb(t)::text as content
      from ${sql.table(name)} t
      where (${columns}) > (${sql.join(after)}) and (${end === undefined} or (${columns}) <= (${sql.join(end ?? minKey)}))
      order by ${columns} limit ${end ? 2 * ROWS_PER_PAGE : ROWS_PER_PAGE}`.execute(trx);
    return rows;
  });
}

async function insertRows(db: Database, { name }: Table, rows: readonly Row[]): Promise<void> {
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
