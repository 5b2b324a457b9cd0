import type { BareStores } from '../../db/stores/index.js';
import { type Differences, findDifferences } from './differences.js';

/** The names that `storeImage` assigns. Files with other names are ignored, so they are never removed. */
const IMAGE_NAME = /^[0-9a-f]{32}\.[a-z0-9]+$/;

/**
 * Compares the stored images with the rows that refer to images. The names of all stored images are held in memory, about 100
 * bytes each.
 *
 * @param onPage called with the number of rows that have been compared
 */
export function compareImages(
  { maintenanceDb: db, images }: Pick<BareStores, 'maintenanceDb' | 'images'>,
  pageSize: number,
  onPage: (done: number) => void,
): Promise<Differences<string>> {
  /** Reads a page of the names in rows. No two rows contain the same one. */
  const readNames = async (after: string) => {
    const rows = await db
      .selectFrom((eb) =>
        eb
          .selectFrom('posts')
          .select('image as name')
          .unionAll(eb.selectFrom('accounts').select('picture as name'))
          .as('names'),
      )
      .select((eb) => eb.ref('name').$notNull().as('name'))
      .where('name', '>', after)
      .orderBy('name')
      .limit(pageSize)
      .execute();
    return rows.map(({ name }) => name);
  };
  return findDifferences(db, 'image', async () => {
    const unreferenced = new Set<string>();
    for await (const name of images.list()) if (IMAGE_NAME.test(name)) unreferenced.add(name);
    const missing: string[] = [];
    let done = 0;
    for (let names = await readNames(''); names.length > 0; names = await readNames(names.at(-1) ?? '')) {
      missing.push(...names.filter((name) => !unreferenced.delete(name)));
      done += names.length;
      onPage(done);
    }
    return { unexpected: [...unreferenced], missing };
  });
}
