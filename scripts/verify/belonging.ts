import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import { StoresDisagreeError } from '../../db/installation.js';
import type { Database } from '../../db/postgres/index.js';
import type { Inspection } from './inspection.js';

/**
 * Makes sure that these stores have been joined to each other, and changes nothing: a repair by another's graph would
 * remove all that is in it.
 *
 * @throws StoresDisagree
 */
export async function requireJoined({ db, graph, images }: Inspection['stores']): Promise<void> {
  const installation = await readInstallation(db);
  if (installation?.moving) throw new StoresDisagreeError('A move into these stores has not been finished');
  if (!installation?.graph || !installation.images) {
    throw new StoresDisagreeError('These stores have never served: a start of the service sets them up');
  }
  await requireOwn('social graph', graph, installation.graph, installation.id);
  await requireOwn('image store', images, installation.images, installation.id);
}

async function requireOwn(
  name: string,
  store: Pick<SocialGraph | ImageStore, 'kind' | 'claimedBy'>,
  kind: string,
  installation: string,
): Promise<void> {
  if (store.kind !== kind || (await store.claimedBy()) !== installation) {
    throw new StoresDisagreeError(`The ${name} (${store.kind}) is not the one that PostgreSQL belongs to (${kind})`);
  }
}

async function readInstallation(db: Database) {
  try {
    return await db.selectFrom('installation').selectAll().executeTakeFirst();
  } catch (error) {
    if (isUndefinedTable(error)) return undefined;
    throw error;
  }
}

/** SQLSTATE 42P01. */
const isUndefinedTable = (error: unknown) => error instanceof Error && 'code' in error && error.code === '42P01';
