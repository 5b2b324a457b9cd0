import type { Transaction } from 'neo4j-driver';
import type { Test } from 'tap';
import type { SocialGraph } from '../../db/graph/index.js';
import { openNeo4j } from '../../db/graph/neo4j.js';
import type { Neo4jOptions } from '../../db/graph/neo4j-connection.js';
import type { Log } from '../../db/support/log.js';
import { openDriver, queryGraph, silentLog } from './stores.js';

const { NEO4J_URI, NEO4J_USERNAME: username, NEO4J_PASSWORD: password } = process.env;

export const neo4jUri = NEO4J_URI ?? '';

/** Test options that skip a test without a Neo4j server. */
export const needsNeo4j = { skip: NEO4J_URI === undefined && 'needs NEO4J_URI: npm run test:services' };

export function openTestGraph(t: Test, options: Partial<Neo4jOptions> = {}, log: Log = silentLog): SocialGraph {
  const graph = openNeo4j({ uri: neo4jUri, username, password, poolSize: 10, timeoutMs: 5000, ...options }, log);
  t.teardown(() => graph.close());
  return graph;
}

/** Begins a transaction in Neo4j. It is rolled back when the test ends, unless it has ended before. */
export async function beginTransaction(t: Test): Promise<Transaction> {
  const driver = await openDriver();
  t.teardown(() => driver.close());
  return driver.session().beginTransaction();
}

/** Returns a source of ids that no other test uses. Their nodes are removed when the test ends. */
export function freshIds(t: Test): { next(): number } {
  const base = 2 ** 40 + Math.floor(Math.random() * 2 ** 20) * 2 ** 30;
  let last = base;
  t.teardown(async () => {
    await queryGraph('MATCH (p:Person) WHERE p.id > $base AND p.id <= $last DETACH DELETE p', { base, last });
    await queryGraph('MATCH (p:Post) WHERE p.id > $base AND p.id <= $last DETACH DELETE p', { base, last });
  });
  const next = () => {
    last += 1;
    return last;
  };
  return { next };
}
