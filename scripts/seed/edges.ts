import type { Population } from './population.js';
import { createRandom, type Random } from './random.js';

/** Two indexes into the generated accounts or posts. */
type Pair = readonly [number, number];

/**
 * Generates friendships as pairs, in one direction. Accounts form a ring, and each befriends the accounts at the same
 * random distances, so that all have the same number of friends. No pair is repeated.
 */
export function* friendPairs({ accounts, friends }: Population): Generator<Pair> {
  const distances = [...pick(createRandom(1), Math.floor(friends / 2), Math.floor((accounts - 1) / 2))];
  for (const distance of distances) {
    for (let person = 0; person < accounts; person += 1) yield [person, (person + distance + 1) % accounts];
  }
  if (friends % 2 === 1) {
    for (let person = 0; person < accounts / 2; person += 1) yield [person, person + accounts / 2];
  }
}

/**
 * Generates likes as pairs of an account and a post. Each post has a random number of likes, up to about twice the average. No
 * pair is repeated.
 */
export function* likePairs({ accounts, posts, likes }: Population): Generator<Pair> {
  const random = createRandom(2);
  let remaining = likes;
  for (let post = 0; post < posts; post += 1) {
    const postsAfter = posts - post - 1;
    const min = remaining - postsAfter * accounts;
    const wanted = random(2 * Math.round(remaining / (postsAfter + 1)) + 1);
    const count = postsAfter === 0 ? remaining : Math.min(accounts, remaining, Math.max(min, wanted));
    for (const person of pick(random, count, accounts)) yield [person, post];
    remaining -= count;
  }
}

/** Returns `count` different random integers from 0 to `end - 1` (Floyd's algorithm). */
function pick(random: Random, count: number, end: number): ReadonlySet<number> {
  const picked = new Set<number>();
  for (let last = end - count; last < end; last += 1) {
    const number = random(last + 1);
    picked.add(picked.has(number) ? last : number);
  }
  return picked;
}
