import type { Edges, Friendship, Like, Request } from '../../db/graph/index.js';
import type { LockedIds } from '../../db/postgres/locks.js';
import type { RuleName } from './rules.js';

/** A rule that some ties break. */
export interface Problem {
  rule: RuleName;
  /** Of whom, for people; no two problems with one rule share it. */
  example: string;
  /** At whom it is judged. */
  person: number;
  /** Who and what is tied. */
  locked: Required<LockedIds>;
  /** What has to go: of several alike all but `keep`. */
  surplus: Edges;
  keep: 0 | 1;
}

/** All there is between two people. */
interface Pair {
  lo: number;
  hi: number;
  friendships: Friendship[];
  requests: Request[];
}

/** What is wrong with ties. A pair is judged where the smaller id is among `people`, and so in one place only. */
export function judge(ties: Edges, people: Iterable<number>): Problem[] {
  const judged = new Set(people);
  return [
    ...pairsOf(ties)
      .filter(({ lo }) => judged.has(lo))
      .flatMap(judgePair),
    ...judgeLikes(ties.likes.filter(({ person }) => judged.has(person))),
  ];
}

function pairsOf({ friendships, requests }: Edges): Pair[] {
  const pairs = new Map<string, Pair>();
  const pairOf = (a: number, b: number): Pair => {
    const [lo, hi] = [Math.min(a, b), Math.max(a, b)];
    const pair = pairs.get(`${lo} ${hi}`) ?? { lo, hi, friendships: [], requests: [] };
    pairs.set(`${lo} ${hi}`, pair);
    return pair;
  };
  for (const friendship of friendships) pairOf(friendship.person, friendship.friend).friendships.push(friendship);
  for (const request of requests) pairOf(request.from, request.to).requests.push(request);
  return [...pairs.values()];
}

function judgePair({ lo, hi, friendships, requests }: Pair): Problem[] {
  const problems: Problem[] = [];
  const note = (rule: RuleName, surplus: Partial<Edges>, keep: 0 | 1 = 0) =>
    problems.push({
      rule,
      example: lo === hi ? `person ${lo}` : `people ${lo} and ${hi}`,
      person: lo,
      locked: { accounts: [lo, hi], posts: [] },
      surplus: { friendships: [], requests: [], likes: [], ...surplus },
      keep,
    });
  if (lo === hi) {
    note('selfless', { friendships, requests });
    return problems;
  }
  const friendsOf = new Set(friendships.map(({ person }) => person));
  const askers = new Set(requests.map(({ from }) => from));
  if (friendsOf.size < friendships.length || askers.size < requests.length) note('once', { friendships, requests }, 1);
  // That both have agreed cannot be proven, and an end of it shows nobody what was hidden.
  if (friendsOf.size === 1) note('bothWays', { friendships });
  if (friendsOf.size > 0 && askers.size > 0) note('friendOrRequested', { requests });
  else if (askers.size === 2) note('oneRequest', { requests: requests.filter(({ from }) => from === hi) });
  return problems;
}

function judgeLikes(likes: readonly Like[]): Problem[] {
  const seen = new Set<string>();
  const twice = new Map<string, Like>();
  for (const like of likes) {
    const key = `${like.person} ${like.post}`;
    if (seen.has(key)) twice.set(key, like);
    seen.add(key);
  }
  return [...twice.values()].map((like) => ({
    rule: 'once',
    example: `person ${like.person} likes post ${like.post}`,
    person: like.person,
    locked: { accounts: [like.person], posts: [like.post] },
    surplus: { friendships: [], requests: [], likes: [like] },
    keep: 1,
  }));
}
