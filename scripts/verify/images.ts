import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { ImageStore } from '../../db/images/index.js';
import type { Database } from '../../db/postgres/index.js';
import type { Inspection } from './inspection.js';
import { chunks, pages } from './pages.js';

/** The names that the service gives: see `withPendingImage`. What goes by another is not the service's to remove. */
const IMAGE_NAME = /^[0-9a-f]{32}\.[a-z0-9]+$/;

/** How many images are asked for at once. */
const AT_ONCE = 16;

/**
 * The bytes are there only while an entry or a row names them, and a row takes an image over from its entry, or gives it
 * back, in one transaction. So what was listed before neither named it, and is there after, is nobody's: names are not
 * given twice.
 */
export async function checkStoredImages({ stores, findings, repair, progress, pageSize }: Inspection): Promise<void> {
  const { maintenanceDb, images } = stores;
  for await (const names of chunks(images.list(), pageSize)) {
    findings.add(
      'onlyImages',
      names.filter((name) => !IMAGE_NAME.test(name)),
    );
    const suspects = await withoutRow(
      maintenanceDb,
      names.filter((name) => IMAGE_NAME.test(name)),
    );
    const missing = new Set(await notStored(images, suspects));
    const orphans = suspects.filter((name) => !missing.has(name));
    if (orphans.length > 0) {
      const mended = await repair?.settle(orphans.map((key) => ({ kind: 'image', key })));
      findings.add('imageHasRow', orphans, mended);
    }
    progress.advance(names.length);
  }
}

/** Which of these neither a row nor an entry in the outbox names, at one moment. */
async function withoutRow(db: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select stored.name from unnest(${names}::text[]) as stored (name)
    where not exists (select from posts where image = stored.name)
      and not exists (select from accounts where picture = stored.name)
      and not exists (select from outbox where kind = 'image' and key = stored.name)`.execute(db);
  return rows.map(({ name }) => name);
}

async function notStored(images: ImageStore, names: readonly string[]): Promise<string[]> {
  const limit = pLimit(AT_ONCE);
  const answers = await limit.map(names, async (name) => {
    const image = await images.get(name);
    image?.stream.destroy();
    return image ? [] : [name];
  });
  return answers.flat();
}

interface Owner {
  id: number;
  image: string;
  shared: boolean;
}

/** The rows of one table, by the images that they name. */
interface Owners {
  kind: 'account' | 'post';
  read(db: Database, after: number, limit: number): Promise<Owner[]>;
  /** Which of these still name what they named. */
  stillNaming(db: Database, owners: readonly Owner[]): Promise<number[]>;
}

export const PICTURES: Owners = owners('account', 'accounts', 'picture', 'posts', 'image');
export const POST_IMAGES: Owners = owners('post', 'posts', 'image', 'accounts', 'picture');

/**
 * The bytes are written before a row names them, and go after it has ceased to. So a row that names an image before and
 * after it was not there has lost it: names are not given twice.
 */
export async function checkNamedImages(inspection: Inspection, { kind, read, stillNaming }: Owners): Promise<void> {
  const { stores, findings, progress, pageSize } = inspection;
  const { maintenanceDb, images } = stores;
  const readPage = (after: number, limit: number) => read(maintenanceDb, after, limit);
  for await (const rows of pages(readPage, pageSize, ({ id }) => id)) {
    const missing = new Set(
      await notStored(
        images,
        rows.map(({ image }) => image),
      ),
    );
    const suspects = rows.filter(({ image }) => missing.has(image));
    const still = new Set(await stillNaming(maintenanceDb, suspects));
    const lost = suspects.filter(({ id }) => still.has(id));
    findings.add(
      'rowHasImage',
      lost.map(({ id, image }) => `${kind} ${id}: ${image}`),
    );
    // Each table's names are unique, so what is shared is shared with the other one, and told once.
    const shared = kind === 'post' ? rows.filter((row) => row.shared) : [];
    findings.add(
      'imageHasOneRow',
      shared.map(({ id, image }) => `${kind} ${id}: ${image}`),
    );
    progress.advance(rows.length);
  }
}

function owners(
  kind: Owners['kind'],
  table: 'accounts' | 'posts',
  column: 'picture' | 'image',
  otherTable: 'accounts' | 'posts',
  otherColumn: 'picture' | 'image',
): Owners {
  const [rows, name] = [sql.table(table), sql.ref(column)];
  return {
    kind,
    async read(db, after, limit) {
      const found = await sql<Owner>`
        select id, ${name} as image,
          exists (select from ${sql.table(otherTable)} as other
                  where other.${sql.ref(otherColumn)} = own.${name}) as shared
        from ${rows} as own
        where ${name} is not null and id > ${after}
        order by id limit ${limit}`.execute(db);
      return found.rows;
    },
    async stillNaming(db, owners) {
      if (owners.length === 0) return [];
      const found = await sql<{ id: number }>`
        select own.id from ${rows} as own
        join unnest(${owners.map(({ id }) => id)}::int8[], ${owners.map(({ image }) => image)}::text[])
          as before (id, name) on before.id = own.id and before.name = own.${name}`.execute(db);
      return found.rows.map(({ id }) => id);
    },
  };
}
