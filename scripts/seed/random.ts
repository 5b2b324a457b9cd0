/** Returns a pseudorandom integer from 0 to `end - 1`. */
export type Random = (end: number) => number;

/** Returns a seeded generator of pseudorandom 32-bit unsigned integers (Mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Returns a seeded pseudorandom generator of integers below a bound. */
export function createRandom(seed: number): Random {
  const next = mulberry32(seed);
  return (end) => Math.floor((next() / 2 ** 32) * end);
}
