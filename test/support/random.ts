import { hash } from 'node:crypto';
import { mulberry32 } from '../../scripts/seed/random.js';

export interface Random {
  /** Returns a number from 0 to less than 1. */
  next(): number;
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number;
  chance(probability: number): boolean;
  /** Returns one of the items. Throws if there are none. */
  pick<Item>(items: readonly Item[]): Item;
}

/** Returns a pseudorandom generator whose numbers depend only on `seed` and `index`. */
export function createRandom(seed: string, index: number): Random {
  const nextInteger = mulberry32(hash('sha256', `${seed}:${index}`, 'buffer').readInt32LE());
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
