import { type RawBuilder, sql } from 'kysely';
import { NOW, STATEMENT_TIME } from '../postgres/clock.js';
import type { Database, DatabaseTransaction } from '../postgres/index.js';
import type { OutboxKind } from '../schema.js';

/** Refers to an entity in PostgreSQL that has a counterpart in another store. */
export interface EntityReference {
  kind: OutboxKind;
  /** The id of an account or post, or the name of an image. */
  key: string | number;
}

/** An entry in the table `outbox`. */
export interface OutboxEntry {
  id: number;
  kind: OutboxKind;
  key: string;
}

/** The outcome of a transaction, with the entries to deliver after its commit; undefined if it has written nothing. */
export type WithEntries<Outcome> = Outcome & { entries?: OutboxEntry[] };

/** Returns references to the images with these names. Skips null. */
export const imageReferences = (...names: (string | null)[]): EntityReference[] =>
  names.flatMap((key) => (key === null ? [] : [{ kind: 'image', key }]));

/** Inserts entries in the transaction that changes the rows. Returns them, so that they can be delivered after the commit. */
export async function enqueue(
  trx: DatabaseTransaction,
  references: readonly EntityReference[],
): Promise<OutboxEntry[]> {
  if (references.length === 0) return [];
  const kinds = references.map(({ kind }) => kind);
  const keys = references.map(({ key }) => String(key));
  const { rows } = await insertEntries(sql`select * from unnest(${kinds}::text[], ${keys}::text[])`).execute(trx);
  return rows;
}

/** Builds a statement that inserts an entry for each kind and key that `query` selects. The statement returns the entries. */
export const insertEntries = (query: RawBuilder<unknown>) =>
  sql<OutboxEntry>`insert into outbox (kind, key) ${query} returning id, kind, key`;

/** Builds the same as a part of a statement. */
export const entriesOf = (query: RawBuilder<unknown>) => sql<OutboxEntry>`(${insertEntries(query)})`;

/** How many due entries the relay reads at a time. */
const RELAY_BATCH_SIZE = 100;

/** Builds a query for the first due entries of a kind. The index begins with the kind, so those of other kinds are not read. */
export const findDueEntries = (db: Database, kind: OutboxKind) =>
  db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key'])
    .where('kind', '=', kind)
    .where('due_at', '<=', STATEMENT_TIME)
    .orderBy('due_at')
    .orderBy('id')
    .limit(RELAY_BATCH_SIZE);

/**
 * Builds a query that claims entries: it returns those that are due and not locked by another transaction, and locks their rows
 * until the end of its own transaction.
 */
export const claimDueEntries = (db: Database, ids: readonly number[]) =>
  db
    .selectFrom('outbox')
    .select(['id', 'kind', 'key', 'delivered'])
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('due_at', '<=', NOW)
    .forUpdate()
    .skipLocked();
