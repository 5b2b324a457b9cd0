import * as cypher from './cypher.js';
import type { Run } from './neo4j-session.js';

/** No person and no post has this id: others are positive. Processes that warm up together do not lock the same nodes. */
const absentId = () => -1 - Math.floor(Math.random() * 1e9);

/** Longer than any attempt can be old, in milliseconds. */
const NO_AGE = Number.MAX_SAFE_INTEGER / 2;

/** Neo4j plans a statement anew for each order of magnitude of its lists. */
const LIST_SIZES = [1, 10];

/** How many users, authors and posts lookups have: of one request (a friend, a post, a page), then of batches. */
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

/** Returns every statement of a request, with parameters that match nothing. */
export function warmUpStatements(id = absentId()): Statement[] {
  const lookups = LOOKUPS.map(([people, others, posts]): Statement => {
    const lists = { people: absentIds(id, people), others: absentIds(id, others), posts: absentIds(id, posts) };
    return [cypher.RELATIONS_BETWEEN, { ...lists, fewPeople: people <= others, few: 1 }];
  });
  return [...lookups, ...LIST_SIZES.flatMap((size) => statementsWithLists(id, size)), ...statementsAbout(id)];
}

function statementsWithLists(id: number, size: number): Statement[] {
  const ids = absentIds(id, size);
  const likes = ids.map((person) => ({ person, post: id }));
  return [
    [cypher.LIKERS_AMONG, { people: ids, posts: [id] }],
    [cypher.FRIENDS_OF_EACH, { people: ids }],
    [cypher.LIKE, { likes }],
    [cypher.UNLIKE, { likes, keep: 0 }],
    [cypher.ENSURE_PEOPLE, { people: ids }],
    [cypher.ENSURE_POSTS, { posts: ids }],
  ];
}

function statementsAbout(id: number): Statement[] {
  const attempt = `warm-up ${id}`;
  const pair = { from: id, to: id - 1 };
  return [
    [cypher.REQUESTERS_OF, { person: id }],
    [cypher.LOCK_PEOPLE, { people: [id] }],
    [cypher.FIND_ATTEMPT, { attempt }],
    [cypher.MARK_ATTEMPT, { attempt }],
    [cypher.FORGET_ATTEMPTS, { attempt, age: NO_AGE }],
    [cypher.OBSTACLE, pair],
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

/** A server that needs no more than this for all statements is warm. One that is only slow is not waited for. */
const WARM_MS = 500;
const MAX_ROUNDS = 4;

/**
 * Runs every statement of a request until a server that has just started has planned and compiled them: the first time each
 * takes it seconds. `rehearse` takes back what they change.
 */
export async function warmUpNeo4j(rehearse: (work: (run: Run) => Promise<void>) => Promise<void>): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const started = performance.now();
    await rehearse(async (run) => {
      for (const [statement, parameters] of warmUpStatements()) await run(statement, parameters);
    });
    if (performance.now() - started < WARM_MS) return;
  }
}
