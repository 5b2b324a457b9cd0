import { mulberry32 } from '../../scripts/seed/random.js';

export interface Random {
  next(): number;
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number;
  chance(probability: number): boolean;
  /** Returns one of the items. Throws if there are none. */
  pick<Item>(items: readonly Item[]): Item;
}

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
