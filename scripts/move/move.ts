import type { Progress } from '../../db/support/progress.js';
import { carryGraph, compareGraph } from './graph.js';
import { carryImages, compareImages } from './images.js';
import { carryRows, compareRows } from './rows.js';
import type { Sides } from './sides.js';
import { begin, examine, finish } from './state.js';

export { openSides } from './sides.js';

export interface Outcome {
  /** `there`: the target is where everything is already. `differs`: it was copied, but is not the same; nothing serves there. */
  result: 'moved' | 'there' | 'differs';
  differences: number;
  /** Some of them. */
  examples: string[];
}

const EXAMPLES = 10;

/**
 * Moves an installation from one set of stores to another: copies all that differs, compares it, and hands over. Ended at any
 * moment, it goes on where it was when it is called again.
 *
 * @throws StoresDisagree before anything is written, when the source does not belong together or the target is not empty
 * @throws StoreUnavailable
 */
export async function move(sides: Sides, progress: Progress): Promise<Outcome> {
  const outcome: Outcome = { result: 'moved', differences: 0, examples: [] };
  const found = (difference: string) => {
    outcome.differences += 1;
    if (outcome.examples.length < EXAMPLES) outcome.examples.push(difference);
  };
  const id = await examine(sides);
  if (id === undefined) return { ...outcome, result: 'there' };
  await begin(id, sides);
  const { source, target, same } = sides;
  if (!same.postgres) await carryRows(source.db, target.db, progress);
  if (!same.graph) await carryGraph(source.db, source.graph, target.graph, progress);
  if (!same.images) await carryImages(source.images, target.images, target.directory.uploads, progress);
  if (!same.postgres) await compareRows(source.db, target.db, progress, found);
  if (!same.graph) await compareGraph(source.db, source.graph, target.graph, progress, found);
  if (!same.images) await compareImages(source.images, target.images, progress, found);
  if (outcome.differences > 0) return { ...outcome, result: 'differs' };
  await finish(id, sides);
  return outcome;
}
