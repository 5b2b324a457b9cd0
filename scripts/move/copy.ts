import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import type { Edges, SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import type { Tables } from '../../db/schema.js';
import { chunks, paginate, readIds, withProgress } from '../support/pages.js';
import type { Progress } from '../support/progress.js';
import type { MoveStores, StoreSet } from './stores.js';

/** The number of accounts, posts or other rows that are copied together. Limits a page of posts to about 8 MB. */
const ROWS_PER_PAGE = 200;

/** The number of edges per write. */
const EDGES_PER_WRITE = 1000;

const CONCURRENT_IMAGES = 8;

/** The tables of rows that are copied with the row to which `column` refers. `copyGraph` copies the tables of a graph. */
const TABLES = {
  accounts: [
    { name: 'accounts', column: 'id' },
    { name: 'sessions', column: 'account_id' },
    { name: 'idempotency_keys', column: 'account_id' },
  ],
  posts: [{ name: 'posts', column: 'id' }],
  outbox: [{ name: 'outbox', column: 'id' }],
  operator_log: [{ name: 'operator_log', column: 'id' }],
} as const;

type Parent = keyof typeof TABLES;

const PARENTS = Object.keys(TABLES) as Parent[];

/** Copies the rows, including pending outbox entries, then the sequences. */
export async function copyRows(source: Database, target: Database, progress: Progress): Promise<void> {
  for (const parent of PARENTS) {
    for await (const ids of pagesOf(source, parent, `copying ${parent}`, progress)) {
      for (const { name, column } of TABLES[parent]) {
        const table = sql.table(name);
        // As JSON, a page is one parameter, and values of every type are copied without loss.
        const { rows } = await sql<{ content: string }>`
          select coalesce(json_agg(t), '[]')::text as content from ${table} t
          where ${sql.ref(column)} = any(${ids}::int8[])`.execute(source);
        await sql`
          insert into ${table} select * from jsonb_populate_recordset(null::${table}, ${rows[0]?.content}::jsonb)`.execute(
          target,
        );
      }
    }
    const sequence = `${parent}_id_seq`;
    const { rows } = await sql<{ last_value: number; is_called: boolean }>`
      select last_value, is_called from ${sql.table(sequence)}`.execute(source);
    await sql`select setval(${sequence}, ${rows[0]?.last_value}::int8, ${rows[0]?.is_called})`.execute(target);
  }
}

const NO_EDGES: Edges = { friendships: [], requests: [], likes: [] };

/** Copies the edges of all accounts. In Neo4j, first creates a node for every account and post. */
export async function copyGraph(source: StoreSet, { bulk, hasNodes }: SocialGraph, progress: Progress): Promise<void> {
  if (hasNodes) {
    for await (const people of pagesOf(source.db, 'accounts', 'creating nodes of people', progress))
      await bulk.ensureNodes({ people, posts: [] });
    for await (const posts of pagesOf(source.db, 'posts', 'creating nodes of posts', progress))
      await bulk.ensureNodes({ people: [], posts });
  }
  for await (const people of pagesOf(source.db, 'accounts', 'copying friends and likes', progress)) {
    const edges = await outgoingEdges(source.graph, people);
    for await (const friendships of chunks(edges.friendships, EDGES_PER_WRITE))
      await bulk.addEdges({ ...NO_EDGES, friendships });
    for await (const requests of chunks(edges.requests, EDGES_PER_WRITE))
      await bulk.addEdges({ ...NO_EDGES, requests });
    for await (const likes of chunks(edges.likes, EDGES_PER_WRITE)) await bulk.addEdges({ ...NO_EDGES, likes });
  }
}

/** Returns the edges that start at these people. Friendships have an edge in each direction. */
async function outgoingEdges({ bulk }: SocialGraph, people: readonly number[]): Promise<Edges> {
  const { friendships, requests, likes } = await bulk.edgesOf(people);
  const isWanted = new Set(people);
  return {
    friendships: friendships.filter(({ person }) => isWanted.has(person)),
    requests: requests.filter(({ from }) => isWanted.has(from)),
    likes,
  };
}

export async function copyImages(
  source: ImageStore,
  { images, directory }: StoreSet,
  progress: Progress,
): Promise<void> {
  const names = await listNames(source);
  const copy = async (name: string) => {
    const image = await source.get(name);
    if (!image) return;
    // In the target's data directory, because `put` moves the file, which requires the same file system.
    const path = join(directory.uploads, randomUUID());
    await pipeline(image.stream, createWriteStream(path));
    await images.put(name, path);
    await rm(path, { force: true });
  };
  for await (const batch of withProgress(chunks(names, CONCURRENT_IMAGES), 'copying images', names.length, progress))
    await Promise.all(batch.map(copy));
}

/** Counts what a move has copied: rows, edges and images. */
export async function countContents(
  { db, graph, images }: StoreSet,
  shared: MoveStores['shared'],
  progress: Progress,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  if (!shared.postgres) for (const { name } of Object.values(TABLES).flat()) counts[name] = await countRows(db, name);
  if (!shared.graph) {
    Object.assign(counts, { friendships: 0, requests: 0, likes: 0 });
    for await (const people of pagesOf(db, 'accounts', 'counting friends and likes', progress)) {
      for (const [kind, edges] of Object.entries(await outgoingEdges(graph, people)))
        counts[kind] = (counts[kind] ?? 0) + edges.length;
    }
  }
  if (!shared.images) counts.images = (await listNames(images)).length;
  return counts;
}

async function countRows(db: Database, table: keyof Tables): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Yields the ids of a table in pages, and reports the progress. */
async function* pagesOf(db: Database, table: Parent, step: string, progress: Progress) {
  yield* withProgress(paginate(readIds(db, table), ROWS_PER_PAGE), step, await countRows(db, table), progress);
}

async function listNames(images: ImageStore): Promise<string[]> {
  const names: string[] = [];
  for await (const name of images.list()) names.push(name);
  return names;
}
