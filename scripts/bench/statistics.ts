/** Of a sorted list, with what lies between two of its numbers taken in proportion. */
function at(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);

/** Below which this share of the values is; NaN of no values. */
export const percentile = (values: readonly number[], share: number): number => at(sorted(values), share);

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export interface Spread {
  median: number;
  least: number;
  most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const inOrder = sorted(values);
  return { median: at(inOrder, 0.5), least: at(inOrder, 0), most: at(inOrder, 1) };
}

/** The same ones, a different one first each round. */
export function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % Math.max(1, items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
