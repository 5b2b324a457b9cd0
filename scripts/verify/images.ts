import type { BareStores } from '../../db/stores.js';
import { paginate } from '../support/pages.js';
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
  const readPictures = (after: number, limit: number) =>
    db
      .selectFrom('accounts')
      .select((eb) => ['id', eb.ref('picture').$notNull().as('name')])
      .where('picture', 'is not', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
  const readPostImages = (after: number, limit: number) =>
    db
      .selectFrom('posts')
      .select((eb) => ['id', eb.ref('image').$notNull().as('name')])
      .where('image', 'is not', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
  return findDifferences(db, 'image', async () => {
    const unreferenced = new Set<string>();
    for await (const name of images.list()) if (IMAGE_NAME.test(name)) unreferenced.add(name);
    const missing: string[] = [];
    let done = 0;
    for (const read of [readPictures, readPostImages]) {
      for await (const rows of paginate(read, pageSize)) {
        // No two rows refer to the same image.
        missing.push(...rows.map(({ name }) => name).filter((name) => !unreferenced.delete(name)));
        done += rows.length;
        onPage(done);
      }
    }
    return { unexpected: [...unreferenced], missing };
  });
}
