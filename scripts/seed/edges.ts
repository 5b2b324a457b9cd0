import type { Population } from './population.js';
import { createRandom, type Random } from './random.js';

/** Two indexes into the generated accounts or posts. */
type Pair = readonly [number, number];

/**
 * Generates friendships as pairs, in one direction. Accounts form a ring, and each befriends the accounts at the same
 * random distances, so that all have the same number of friends. The additional friends of the popular person, the first
 * account, come last. No pair is repeated.
 */
export function* friendPairs({ accounts, friends, popularPersonFriends, seed }: Population): Generator<Pair> {
  const distances = [...pick(createRandom(seed), Math.floor(friends / 2), Math.floor((accounts - 1) / 2))];
  for (const distance of distances) {
    for (let person = 0; person < accounts; person += 1) yield [person, (person + distance + 1) % accounts];
  }
  if (friends % 2 === 1) {
    for (let person = 0; person < accounts / 2; person += 1) yield [person, person + accounts / 2];
  }
  const friendsOfFirst = new Set(distances.flatMap((distance) => [distance + 1, accounts - distance - 1]));
  if (friends % 2 === 1) friendsOfFirst.add(accounts / 2);
  for (const friend of firstOthers(popularPersonFriends, 1, accounts, friendsOfFirst)) yield [0, friend];
}

/**
 * Generates likes as pairs of an account and a post. Each post has a random number of likes, up to about twice the average.
 * The additional likes of the newest post, which is the popular one, come last. No pair is repeated.
 */
export function* likePairs({ accounts, posts, likes, popularPostLikes, seed }: Population): Generator<Pair> {
  const random = createRandom(seed + 1);
  let remaining = likes;
  let likers: ReadonlySet<number> = new Set();
  for (let post = 0; post < posts; post += 1) {
    const postsAfter = posts - post - 1;
    const min = remaining - postsAfter * accounts;
    const wanted = random(2 * Math.round(remaining / (postsAfter + 1)) + 1);
    const count = postsAfter === 0 ? remaining : Math.min(accounts, remaining, Math.max(min, wanted));
    likers = pick(random, count, accounts);
    for (const person of likers) yield [person, post];
    remaining -= count;
  }
  for (const person of firstOthers(popularPostLikes, 0, accounts, likers)) yield [person, posts - 1];
}

/** Yields the first `count` integers from `start` to `end - 1` that are not excluded, or all of them if there are fewer. */
function* firstOthers(count: number, start: number, end: number, excluded: ReadonlySet<number>): Generator<number> {
  let remaining = count;
  for (let number = start; number < end && remaining > 0; number += 1) {
    if (excluded.has(number)) continue;
    remaining -= 1;
    yield number;
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
