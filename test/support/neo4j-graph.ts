import type { Test } from 'tap';
import type { SocialGraph } from '../../db/graph/index.js';
import { type Neo4jOptions, openNeo4j } from '../../db/graph/neo4j.js';
import type { Log } from '../../db/support/log.js';
import { inGraph, quiet } from './stores.js';

const { NEO4J_URI, NEO4J_USERNAME: username, NEO4J_PASSWORD: password } = process.env;

export const neo4jUri = NEO4J_URI ?? '';

/** The embedded stores have no part in these tests. */
export const needsNeo4j = { skip: NEO4J_URI === undefined && 'needs NEO4J_URI: npm run test:services' };

export function openTestGraph(t: Test, options: Partial<Neo4jOptions> = {}, log: Log = quiet): SocialGraph {
  const graph = openNeo4j({ uri: neo4jUri, username, password, poolSize: 10, timeout: 5000, ...options }, log);
  t.teardown(() => graph.close());
  return graph;
}

/** Ids that nobody else uses in the one graph that all share. What was made under them goes when the test ends. */
export function freshIds(t: Test): { base: number; next(): number } {
  const base = 2 ** 40 + Math.floor(Math.random() * 2 ** 20) * 2 ** 30;
  let last = base;
  t.teardown(async () => {
    await inGraph('MATCH (p:Person) WHERE p.id > $base AND p.id <= $last DETACH DELETE p', { base, last });
    await inGraph('MATCH (p:Post) WHERE p.id > $base AND p.id <= $last DETACH DELETE p', { base, last });
  });
  const next = () => {
    last += 1;
    return last;
  };
  return { base, next };
}
