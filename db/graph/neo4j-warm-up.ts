import * as cypher from './cypher.js';
import type { Run } from './neo4j-connection.js';

/*
 * Warm-up of Neo4j. A server that has just started plans and compiles each statement when it first runs, which takes
 * seconds. The warm-up runs every statement of requests before the first request needs it, and rolls its transaction back.
 *
 * Neo4j plans a statement again for each order of magnitude of a list's length. Only some are warmed up: on a warm server,
 * planning one more takes about 0.1 s.
 */

/** The server counts as warm when one round takes less than this. */
const WARM_ROUND_MS = 500;

/** The maximum number of rounds, for a server that is warm but slow. */
const MAX_ROUNDS = 4;

/** Returns a negative id, which no node has. It is random, so that concurrent transactions do not lock the same nodes. */
const absentId = () => -1 - Math.floor(Math.random() * 1e9);

/** Returns every statement that requests run, with ids that no node has. */
export function warmUpStatements(id = absentId()): [statement: string, parameters: object][] {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => id - index);
  const pair = { from: id, to: id - 1 };
  const likes = [{ person: id, post: id }];
  const options = { startWithPeople: true, maxScanned: 1 };
  return [
    // A friendship, a post, and a page of posts.
    [cypher.RELATIONS_BETWEEN, { people: ids(1), others: ids(1), posts: [], ...options }],
    [cypher.RELATIONS_BETWEEN, { people: ids(1), others: [], posts: ids(1), ...options }],
    [cypher.RELATIONS_BETWEEN, { people: ids(1), others: ids(10), posts: ids(100), ...options }],
    [cypher.LIKERS_AMONG, { people: ids(1), posts: ids(1) }],
    [cypher.FRIENDS_OF_EACH, { people: ids(1) }],
    [cypher.REQUESTERS_OF, { person: id }],
    [cypher.LIKE, { likes }],
    [cypher.UNLIKE, { likes }],
    [cypher.LOCK_PEOPLE, { people: ids(1) }],
    [cypher.EXISTING_RELATION, pair],
    [cypher.REQUEST, { requests: [pair] }],
    [cypher.ACCEPT, pair],
    [cypher.END_REQUEST, pair],
    [cypher.UNFRIEND, pair],
    [cypher.ENSURE_NODES, { people: ids(1), posts: ids(1) }],
    [cypher.REMOVE_EDGES_OF_PERSON, { id, limit: 1 }],
    [cypher.REMOVE_EDGES_OF_POST, { id, limit: 1 }],
    [cypher.REMOVE_PERSON, { id }],
    [cypher.REMOVE_POST, { id }],
  ];
}

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
