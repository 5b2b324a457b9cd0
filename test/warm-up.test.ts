import t from 'tap';
import * as cypher from '../db/graph/cypher.js';
import { warmUpStatements } from '../db/graph/neo4j-warm-up.js';
import { needsNeo4j, openTestGraph } from './support/neo4j-graph.js';
import { queryGraph } from './support/stores.js';

/** Statements of migrations, verification and moves, which no request uses. */
const MAINTENANCE =
  /^(PERSON_IDS|POST_IDS|EDGES_OF|ADD_FRIENDSHIPS|REMOVE_FRIEND_EDGES|READ_CLAIM|CLAIM|RELEASE|HIGHEST_\w+|CONSTRAINTS|REMOVE_ATTEMPTS|AWAIT_INDEXES)$/;

t.test('warms up every Cypher statement of requests', async (t) => {
  const warmed = warmUpStatements().map(([statement]) => statement);
  const missing = Object.entries(cypher).flatMap(([name, statement]) =>
    MAINTENANCE.test(name) || warmed.includes(statement as string) ? [] : [name],
  );
  t.same(missing, []);
});

t.test('warming up Neo4j changes nothing', needsNeo4j, async (t) => {
  await openTestGraph(t).warmUp();
  t.same(await queryGraph('MATCH (n) WHERE n.id < 0 RETURN n'), []);
});
