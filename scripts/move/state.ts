import { type Selectable, sql } from 'kysely';
import { StoresDisagreeError } from '../../db/installation.js';
import { migrate, migratePostgres } from '../../db/migrate.js';
import type { Database } from '../../db/postgres/index.js';
import type { InstallationTable } from '../../db/schema.js';
import * as graph from './graph.js';
import * as images from './images.js';
import * as rows from './rows.js';
import type { Side, Sides } from './sides.js';

type Installation = Selectable<InstallationTable>;

const ROLES = ['graph', 'images'] as const;
type Role = (typeof ROLES)[number];

const NAMES = { graph: 'social graph', images: 'image store' };

/** The mark of a store that is being filled: no service takes it for its own. */
const fillingFor = (id: string) => `moving ${id}`;

/**
 * Looks whether the source belongs together, and the target is empty or was left half-filled from this very source. Writes
 * nothing but what a start on the source would.
 *
 * @returns the installation that is to be moved, or undefined when the target is what it lives in already
 * @throws StoresDisagree
 */
export async function examine({ source, target, same }: Sides): Promise<string | undefined> {
  const ours = await readSource(source);
  const theirs = same.postgres ? ours : await readInstallation(target.db);
  const { id } = ours;
  const handedOver = same.postgres || ours.moved_to === target.place;
  if (handedOver && (await serves(target, theirs, id))) return undefined;
  if (ours.moving) throw new StoresDisagreeError('The source is being filled itself: finish that move first');
  const resumed = same.postgres ? ours.changing : theirs?.id === id && theirs.moving;
  if (!same.postgres) {
    if (ours.changing) throw new StoresDisagreeError('The source is in the middle of another move: finish that first');
    if (ours.moved_to !== null && !resumed)
      throw new StoresDisagreeError(`The source was moved to ${ours.moved_to} before`);
    if (!resumed && (theirs?.moving || !(await rows.isEmpty(target.db)))) {
      throw new StoresDisagreeError('The PostgreSQL of the target is not empty');
    }
  }
  for (const role of ROLES) {
    await examineSource(role, source, ours, resumed);
    if (!same[role]) await examineTarget(role, target, { id, resumed, former: same.postgres ? undefined : theirs?.id });
  }
  return id;
}

/** Whether a service that is started on these stores is this installation. */
async function serves(side: Side, installation: Installation | undefined, id: string): Promise<boolean> {
  if (installation?.id !== id || installation.moved_to !== null) return false;
  if (installation.moving || installation.changing) return false;
  for (const role of ROLES) {
    const store = side[role];
    if (installation[role] !== store.kind || (await store.claimedBy()) !== id) return false;
  }
  return true;
}

async function examineSource(role: Role, side: Side, ours: Installation, resumed: boolean): Promise<void> {
  const { kind } = side[role];
  const owner = await side[role].claimedBy();
  // Towards the end of a move the mark is taken off.
  if (ours[role] === kind && (owner === ours.id || (resumed && owner === undefined))) return;
  throw new StoresDisagreeError(
    `The ${NAMES[role]} of the source (${kind}) is not the one that its PostgreSQL belongs to`,
  );
}

interface Expected {
  id: string;
  resumed: boolean;
  /** Whose the target was, if a service was ever started on it. */
  former: string | undefined;
}

async function examineTarget(role: Role, side: Side, { id, resumed, former }: Expected): Promise<void> {
  const { kind } = side[role];
  // It is part of PostgreSQL, and either empty with it or left from when it served this installation: that is mended.
  if (kind === 'embedded') return;
  const owner = await side[role].claimedBy();
  if (owner === fillingFor(id) || (resumed && owner === id)) return;
  if (owner !== undefined && owner !== former) {
    throw new StoresDisagreeError(`The ${NAMES[role]} of the target (${kind}) belongs to another PostgreSQL`);
  }
  const empty = role === 'graph' ? await graph.isEmpty(side.graph) : await images.isEmpty(side.images);
  if (!empty) throw new StoresDisagreeError(`The ${NAMES[role]} of the target (${kind}) is not empty`);
}

/** From here on until the end no service starts on the target. */
export async function begin(id: string, { target, same }: Sides): Promise<void> {
  if (!same.postgres) await migratePostgres(target.db);
  for (const role of ROLES) if (!same[role]) await mark(target[role], fillingFor(id));
  if (!same.graph) await target.graph.migrate();
  const state = same.postgres ? { changing: true } : { id, moving: true, ...kindsOf(target) };
  await target.db
    .insertInto('installation')
    .values(state)
    .onConflict((conflict) => conflict.column('singleton').doUpdateSet(state))
    .execute();
}

/** Hands the installation over. The last write is the one that lets a service start on the target. */
export async function finish(id: string, { source, target, same }: Sides): Promise<void> {
  if (!same.postgres) await source.db.updateTable('installation').set({ moved_to: target.place }).execute();
  for (const role of ROLES) if (!same[role]) await source[role].release();
  for (const role of ROLES) await mark(target[role], id);
  await target.db
    .updateTable('installation')
    .set({ ...kindsOf(target), moving: false, changing: false })
    .execute();
}

async function mark(store: Side[Role], owner: string): Promise<void> {
  await store.claim(owner, await store.claimedBy());
}

const kindsOf = (side: Side) => ({ graph: side.graph.kind, images: side.images.kind });

async function readSource({ db, graph, images }: Side): Promise<Installation> {
  if (await rows.isEmpty(db)) throw new StoresDisagreeError('There is nothing in the source');
  await migratePostgres(db);
  // Stores that are older than their marks are marked as a start would do it.
  const installation = await readInstallation(db);
  if (!installation?.graph) await migrate({ maintenanceDb: db, graph, images });
  return db.selectFrom('installation').selectAll().executeTakeFirstOrThrow();
}

async function readInstallation(db: Database): Promise<Installation | undefined> {
  const { rows: tables } = await sql`select where to_regclass('installation') is not null`.execute(db);
  return tables.length > 0 ? db.selectFrom('installation').selectAll().executeTakeFirst() : undefined;
}
