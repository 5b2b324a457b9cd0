import { type RawBuilder, sql } from 'kysely';
import pLimit from 'p-limit';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import { chunks, paginate } from '../support/pages.js';
import type { CheckContext } from './rules.js';

/** The names that `storeImage` assigns. Files with other names are never removed. */
const IMAGE_NAME = /^[0-9a-f]{32}\.[a-z0-9]+$/;

const CONCURRENT_READS = 16;

/**
 * Finds images that no row references. While an image is stored, a row or an outbox entry references it, and the reference
 * moves between the two in one transaction. So an image that is listed, then referenced by neither, and then still stored is
 * an orphan. Names are never reused.
 */
export async function checkStoredImages({ stores, findings, repair, track, pageSize }: CheckContext): Promise<void> {
  const { maintenanceDb, images } = stores;
  for await (const names of track(chunks(images.list(), pageSize))) {
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
export async function checkReferencedImages(
  { stores, findings, track, pageSize }: CheckContext,
  { kind, table, column }: ImageColumn,
): Promise<void> {
  const { maintenanceDb, images } = stores;
  const image = sql.ref(column);
  const readRows = async (condition: RawBuilder<unknown>, limit: number) => {
    const { rows } = await sql<ImageRow>`
      select id, ${image} as image from ${sql.table(table)}
      where ${image} is not null and ${condition}
      order by id limit ${limit}`.execute(maintenanceDb);
    return rows;
  };
  const readPage = (after: number, limit: number) => readRows(sql`id > ${after}`, limit);
  for await (const rows of track(paginate(readPage, pageSize))) {
    const [ids, names] = [rows.map((row) => row.id), rows.map((row) => row.image)];
    const missing = await filterMissing(images, names);
    if (missing.length === 0) continue;
    const lost = await readRows(sql`id = any(${ids}) and ${image} = any(${missing})`, rows.length);
    const violations = lost.map((row) => `${kind} ${row.id}: ${row.image}`);
    findings.add('rowHasImage', violations);
  }
}
