import type { Edges, FriendRequest, Friendship, Like } from '../../db/graph/index.js';
import type { LockedIds } from '../../db/postgres/locks.js';
import type { RuleName } from './rules.js';

/** Edges that violate a rule. */
export interface EdgeProblem {
  rule: RuleName;
  /** A description for operators, unique for its rule. */
  example: string;
  /** The person whose edges have to be read again to confirm the problem. */
  person: number;
  /** The accounts and posts that the edges connect. */
  lockIds: Required<LockedIds>;
  /** The edges to remove. */
  surplus: Edges;
  /** The number of edges to keep of each group of duplicates in `surplus`. */
  keep: 0 | 1;
}

/** The edges between two people, `lo` being the smaller id. */
interface Pair {
  lo: number;
  hi: number;
  friendships: Friendship[];
  requests: FriendRequest[];
}

/**
 * Returns the problems of these edges. A pair is checked only if its smaller id is in `people`, so that only one page
 * reports it.
 */
export function findEdgeProblems(edges: Edges, people: Iterable<number>): EdgeProblem[] {
  const checked = new Set(people);
  return [
    ...pairsOf(edges)
      .filter(({ lo }) => checked.has(lo))
      .flatMap(findPairProblems),
    ...findDuplicateLikes(edges.likes.filter(({ person }) => checked.has(person))),
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

function findPairProblems({ lo, hi, friendships, requests }: Pair): EdgeProblem[] {
  const problems: EdgeProblem[] = [];
  const report = (rule: RuleName, surplus: Partial<Edges>, keep: 0 | 1 = 0) =>
    problems.push({
      rule,
      example: lo === hi ? `person ${lo}` : `people ${lo} and ${hi}`,
      person: lo,
      lockIds: { accounts: [lo, hi], posts: [] },
      surplus: { friendships: [], requests: [], likes: [], ...surplus },
      keep,
    });
  if (lo === hi) {
    report('noSelfRelation', { friendships, requests });
    return problems;
  }
  const friendshipStarts = new Set(friendships.map(({ person }) => person));
  const requesters = new Set(requests.map(({ from }) => from));
  if (friendshipStarts.size < friendships.length || requesters.size < requests.length)
    report('noDuplicates', { friendships, requests }, 1);
  // It is unknown whether both agreed, so the friendship is removed. A removal never reveals hidden content.
  if (friendshipStarts.size === 1) report('mutualFriendship', { friendships });
  if (friendshipStarts.size > 0 && requesters.size > 0) report('friendOrRequested', { requests });
  else if (requesters.size === 2) report('oneRequest', { requests: requests.filter(({ from }) => from === hi) });
  return problems;
}

function findDuplicateLikes(likes: readonly Like[]): EdgeProblem[] {
  const seen = new Set<string>();
  const duplicates = new Map<string, Like>();
  for (const like of likes) {
    const key = `${like.person} ${like.post}`;
    if (seen.has(key)) duplicates.set(key, like);
    seen.add(key);
  }
  return [...duplicates.values()].map((like) => ({
    rule: 'noDuplicates',
    example: `person ${like.person} likes post ${like.post}`,
    person: like.person,
    lockIds: { accounts: [like.person], posts: [like.post] },
    surplus: { friendships: [], requests: [], likes: [like] },
    keep: 1,
  }));
}
