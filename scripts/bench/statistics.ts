/** Returns a percentile, given as a fraction from 0 to 1, with linear interpolation; NaN if there are no values. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * fraction;
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Returns the items rotated by `count` positions. */
export function rotate<Item>(items: readonly Item[], count: number): Item[] {
  const first = count % Math.max(1, items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}
