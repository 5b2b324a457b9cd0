/** Returns a percentile, given as a fraction from 0 to 1, of sorted values, with linear interpolation. */
function percentileOfSorted(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

const sortNumbers = (values: readonly number[]) => values.toSorted((a, b) => a - b);

/** Returns a percentile, given as a fraction from 0 to 1, with linear interpolation; NaN if there are no values. */
export const percentile = (values: readonly number[], fraction: number): number =>
  percentileOfSorted(sortNumbers(values), fraction);

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = sortNumbers(values);
  return {
    median: percentileOfSorted(sorted, 0.5),
    min: percentileOfSorted(sorted, 0),
    max: percentileOfSorted(sorted, 1),
  };
}

/** Returns the items rotated by `round` positions. */
export function rotate<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % Math.max(1, items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
