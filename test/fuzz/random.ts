/** Random choices, reproducible by seed and index. */
export interface Random {
  /** Returns a number from 0 to 1, exclusive. */
  next(): number;
  /** Returns an integer from 0 to `below` - 1. */
  below(below: number): number;
  chance(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

export function randomFor(seed: string, index: number): Random {
  let state = hash(`${seed}:${index}`);
  // Mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('cannot pick from an empty list');
      return item;
    },
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0;
}
