/** Returns a seeded generator of pseudorandom 32-bit unsigned integers (Mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Random choices, reproducible by seed and index. */
export interface Random {
  /** Returns a number from 0 to 1, exclusive. */
  next(): number;
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  /** Returns one of the items. Throws if there are none. */
  pick<Item>(items: readonly Item[]): Item;
}

/** Returns the random choices for a seed and an index. */
export function randomFor(seed: string, index: number): Random {
  const nextInteger = mulberry32(hash(`${seed}:${index}`));
  const next = () => nextInteger() / 2 ** 32;
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('cannot pick from an empty list');
      return item;
    },
  };
}

/** Returns the 32-bit FNV-1a hash of a text. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0;
}
