/** Returns a pseudorandom integer from 0 to `end - 1`. */
export type Random = (end: number) => number;

/** Returns a seeded pseudorandom generator (Mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
}
