import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import { chunks, paginate } from '../pages.js';
import type { CheckContext } from './rules.js';

/** The names that `withPendingImage` assigns. Files with other names are never removed. */
const IMAGE_NAME = /^[0-9a-f]{32}\.[a-z0-9]+$/;

const CONCURRENT_READS = 16;

/**
 * Finds images that no row references. While an image is stored, a row or an outbox entry references it, and the reference
 * moves between the two in one transaction. So an image that is listed, then referenced by neither, and then still stored is
 * an orphan. Names are never reused.
 */
export async function checkStoredImages({ stores, findings, repair, advance, pageSize }: CheckContext): Promise<void> {
  const { maintenanceDb, images } = stores;
  for await (const names of chunks(images.list(), pageSize)) {
    const otherFiles = names.filter((name) => !IMAGE_NAME.test(name));
    findings.add('onlyImages', otherFiles);
    const imageNames = names.filter((name) => IMAGE_NAME.test(name));
    const suspects = await filterUnreferenced(maintenanceDb, imageNames);
    const removed = new Set(await filterMissing(images, suspects));
    const orphans = suspects.filter((name) => !removed.has(name));
    if (orphans.length > 0) {
      const repaired = await repair?.reconcile(orphans.map((key) => ({ kind: 'image', key })));
      findings.add('imageHasRow', orphans, repaired);
    }
    advance(names.length);
  }
}

/** Returns the names that neither a row nor an outbox entry references, as of one snapshot. */
async function filterUnreferenced(db: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select stored.name from unnest(${names}::text[]) as stored (name)
    where not exists (select from posts where image = stored.name)
      and not exists (select from accounts where picture = stored.name)
      and not exists (select from outbox where kind = 'image' and key = stored.name)`.execute(db);
  return rows.map(({ name }) => name);
}

/** Returns the names without a stored image. */
async function filterMissing(images: ImageStore, names: readonly string[]): Promise<string[]> {
  const limit = pLimit(CONCURRENT_READS);
  const results = await limit.map(names, async (name) => {
    const image = await images.get(name);
    image?.stream.destroy();
    return image ? [] : [name];
  });
  return results.flat();
}

interface ImageRow {
  id: number;
  image: string;
}

/** A column that references images. */
interface ImageColumn {
  kind: 'account' | 'post';
  table: 'accounts' | 'posts';
  column: 'picture' | 'image';
}

export const PICTURES: ImageColumn = { kind: 'account', table: 'accounts', column: 'picture' };
export const POST_IMAGES: ImageColumn = { kind: 'post', table: 'posts', column: 'image' };

/**
 * Finds rows whose image is missing. An image is stored before a row references it, and removed after the row no longer does.
 * So if a row references the same image before and after a failed read, the image is lost. Names are never reused.
 */
export async function checkReferencedImages(context: CheckContext, column: ImageColumn): Promise<void> {
  const { stores, findings, advance, pageSize } = context;
  const { maintenanceDb, images } = stores;
  const readPage = (after: number, limit: number) => readRows(maintenanceDb, column, after, limit);
  for await (const rows of paginate(readPage, pageSize, ({ id }) => id)) {
    const names = rows.map(({ image }) => image);
    const missing = new Set(await filterMissing(images, names));
    const suspects = rows.filter(({ image }) => missing.has(image));
    const lost = await filterUnchanged(maintenanceDb, column, suspects);
    const violations = lost.map(({ id, image }) => `${column.kind} ${id}: ${image}`);
    findings.add('rowHasImage', violations);
    advance(rows.length);
  }
}

async function readRows(db: Database, { table, column }: ImageColumn, after: number, limit: number) {
  const image = sql.ref(column);
  const { rows } = await sql<ImageRow>`
    select id, ${image} as image from ${sql.table(table)}
    where ${image} is not null and id > ${after}
    order by id limit ${limit}`.execute(db);
  return rows;
}

/** Returns the rows that still reference the same image. */
async function filterUnchanged(
  db: Database,
  { table, column }: ImageColumn,
  suspects: readonly ImageRow[],
): Promise<ImageRow[]> {
  if (suspects.length === 0) return [];
  const { rows } = await sql<ImageRow>`
    select before.id, before.image
    from unnest(${suspects.map(({ id }) => id)}::int8[], ${suspects.map(({ image }) => image)}::text[]) as before (id, image)
    join ${sql.table(table)} as own on own.id = before.id and own.${sql.ref(column)} = before.image
    order by before.id`.execute(db);
  return rows;
}
