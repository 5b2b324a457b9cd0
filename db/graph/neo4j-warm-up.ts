import * as cypher from './cypher.js';
import type { Run } from './neo4j-connection.js';

/*
 * Warm-up of Neo4j. A server that has just started plans and compiles each statement when it first runs, which takes
 * seconds. The warm-up runs every statement of requests before the first request needs it, and rolls its transaction back.
 */

/** Returns a negative id, which no node has. It is random, so that concurrent transactions do not lock the same nodes. */
export const absentId = () => -1 - Math.floor(Math.random() * 1e9);

/** The age at which the warm-up would delete `Attempt` nodes. No node is this old. */
const UNREACHABLE_AGE_MS = Number.MAX_SAFE_INTEGER;

/** Lengths of list parameters. Neo4j plans a statement separately for each order of magnitude of a list's length. */
const LIST_SIZES = [1, 10];

/** Lengths of `people`, `others` and `posts`: first of single requests (a friend, a post, a page), then of batches. */
const LOOKUPS = [
  [1, 1, 0],
  [1, 0, 1],
  [1, 1, 1],
  [1, 0, 100],
  [1, 10, 100],
  [10, 10, 0],
  [10, 10, 10],
  [10, 10, 100],
  [100, 100, 100],
] as const;

type Statement = [statement: string, parameters: object];

const absentIds = (id: number, size: number) => Array.from({ length: size }, (_, index) => id - index);

/** Returns every statement that requests run, with ids that no node has. */
export function warmUpStatements(id = absentId()): Statement[] {
  const lookups = LOOKUPS.map(([people, others, posts]): Statement => {
    const lists = { people: absentIds(id, people), others: absentIds(id, others), posts: absentIds(id, posts) };
    return [cypher.RELATIONS_BETWEEN, { ...lists, startWithPeople: people <= others, maxScanned: 1 }];
  });
  return [...lookups, ...LIST_SIZES.flatMap((size) => statementsWithLists(id, size)), ...statementsWithId(id)];
}

function statementsWithLists(id: number, size: number): Statement[] {
  const ids = absentIds(id, size);
  const likes = ids.map((person) => ({ person, post: id }));
  return [
    [cypher.LIKERS_AMONG, { people: ids, posts: [id] }],
    [cypher.FRIENDS_OF_EACH, { people: ids }],
    [cypher.LIKE, { likes }],
    [cypher.UNLIKE, { likes }],
    [cypher.ENSURE_PEOPLE, { people: ids }],
    [cypher.ENSURE_POSTS, { posts: ids }],
  ];
}

function statementsWithId(id: number): Statement[] {
  const attempt = `warm-up ${id}`;
  const pair = { from: id, to: id - 1 };
  return [
    [cypher.REQUESTERS_OF, { person: id }],
    [cypher.LOCK_PEOPLE, { people: [id] }],
    [cypher.FIND_ATTEMPT, { attempt }],
    [cypher.CREATE_ATTEMPT, { attempt }],
    [cypher.DELETE_ATTEMPTS, { attempt, maxAgeMs: UNREACHABLE_AGE_MS }],
    [cypher.EXISTING_RELATION, pair],
    [cypher.REQUEST, { requests: [pair] }],
    [cypher.ACCEPT, pair],
    [cypher.END_REQUEST, pair],
    [cypher.UNFRIEND, pair],
    [cypher.REMOVE_EDGES_OF_PERSON, { id, limit: 1 }],
    [cypher.REMOVE_EDGES_OF_POST, { id, limit: 1 }],
    [cypher.REMOVE_PERSON, { id }],
    [cypher.REMOVE_POST, { id }],
  ];
}

/** The server counts as warm when one round takes less than this. */
const WARM_ROUND_MS = 500;

/** The maximum number of rounds, for a server that is warm but slow. */
const MAX_ROUNDS = 4;

/** Runs every statement that requests run, in rounds, until a round is fast. */
export async function warmUpNeo4j(runAndRollBack: (work: (run: Run) => Promise<void>) => Promise<void>): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const startedAt = performance.now();
    await runAndRollBack(async (run) => {
      for (const [statement, parameters] of warmUpStatements()) await run(statement, parameters);
    });
    if (performance.now() - startedAt < WARM_ROUND_MS) return;
  }
}
