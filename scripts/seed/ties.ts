import type { Population } from './population.js';
import { type Random, randomFrom } from './random.js';

/** Two things by their place in what is made: people count from 0, and so do posts. */
export type Pair = readonly [number, number];

/**
 * Who is whose friend, each pair once. Everybody stands in a ring and befriends who stands at certain distances, so that all
 * have exactly as many friends.
 */
export function* friendPairs({ accounts, friends, popularPerson, seed }: Population): Generator<Pair> {
  const distances = pick(randomFrom(seed), Math.floor(friends / 2), Math.floor((accounts - 1) / 2));
  for (const distance of distances) {
    for (let person = 0; person < accounts; person += 1) yield [person, (person + distance + 1) % accounts];
  }
  if (friends % 2 === 1) {
    for (let person = 0; person < accounts / 2; person += 1) yield [person, person + accounts / 2];
  }
  for (let friend = 1; friend <= popularPerson; friend += 1) yield [0, friend];
}

/** Who likes which post, as person and post. Some posts get none and others twice the average. */
export function* likePairs({ accounts, posts, likes, popularPost, seed }: Population): Generator<Pair> {
  const random = randomFrom(seed + 1);
  let left = likes;
  for (let post = 0; post < posts; post += 1) {
    const after = posts - post - 1;
    const least = left - after * accounts;
    const wanted = random(2 * Math.round(left / (after + 1)) + 1);
    const count = after === 0 ? left : Math.min(accounts, left, Math.max(least, wanted));
    for (const person of pick(random, count, accounts)) yield [person, post];
    left -= count;
  }
  for (let person = 0; person < popularPost; person += 1) yield [person, posts - 1];
}

/** So many different numbers below `end`. */
function pick(random: Random, count: number, end: number): Iterable<number> {
  // Where nearly all are wanted, it is quicker to leave some out.
  if (count > end / 2) {
    const without = new Set(pick(random, end - count, end));
    return Array.from({ length: end }, (_, number) => number).filter((number) => !without.has(number));
  }
  const picked = new Set<number>();
  while (picked.size < count) picked.add(random(end));
  return picked;
}
