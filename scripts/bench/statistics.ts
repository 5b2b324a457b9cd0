/** Returns the quantile (0 to 1) of a sorted list, with linear interpolation. */
function quantileOfSorted(sorted: readonly number[], quantile: number): number {
  const position = (sorted.length - 1) * quantile;
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

const sortNumbers = (values: readonly number[]) => values.toSorted((a, b) => a - b);

/** Returns the quantile (0 to 1) of the values; NaN if there are none. */
export const percentile = (values: readonly number[], quantile: number): number =>
  quantileOfSorted(sortNumbers(values), quantile);

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = sortNumbers(values);
  return { median: quantileOfSorted(sorted, 0.5), min: quantileOfSorted(sorted, 0), max: quantileOfSorted(sorted, 1) };
}

/** Rotates the items by one position per round. */
export function rotated<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % Math.max(1, items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
