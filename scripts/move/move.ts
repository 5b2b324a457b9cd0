import type { Progress } from '../support/progress.js';
import { compareGraph, copyGraph } from './graph.js';
import { compareImages, copyImages } from './images.js';
import { compareRows, copyRows } from './rows.js';
import { beginMove, checkPreconditions, finishMove } from './state.js';
import type { MoveStores } from './stores.js';

export interface Outcome {
  /** If `differs`, the move is incomplete and no service starts on the target. */
  result: 'moved' | 'already moved' | 'differs';
  differences: number;
  /** The first few differences. */
  examples: string[];
}

const MAX_EXAMPLES = 10;

/**
 * Moves an installation from one set of stores to another: copies what is missing, compares everything, and switches over.
 * Each step can be repeated, so an interrupted move continues with the next call.
 *
 * @throws StoresDisagreeError before any data is copied, when the source stores do not belong together or the target contains
 *   other data
 * @throws StoreUnavailableError
 */
export async function move(stores: MoveStores, progress: Progress): Promise<Outcome> {
  const outcome: Outcome = { result: 'moved', differences: 0, examples: [] };
  const onDifference = (difference: string) => {
    outcome.differences += 1;
    if (outcome.examples.length < MAX_EXAMPLES) outcome.examples.push(difference);
  };
  const id = await checkPreconditions(stores);
  if (id === undefined) return { ...outcome, result: 'already moved' };
  await beginMove(id, stores);
  const { shared } = stores;
  if (!shared.postgres) await copyRows(stores, progress);
  if (!shared.graph) await copyGraph(stores, progress);
  if (!shared.images) await copyImages(stores, progress);
  if (!shared.postgres) await compareRows(stores, progress, onDifference);
  if (!shared.graph) await compareGraph(stores, progress, onDifference);
  if (!shared.images) await compareImages(stores, progress, onDifference);
  if (outcome.differences > 0) return { ...outcome, result: 'differs' };
  await finishMove(id, stores);
  return outcome;
}
