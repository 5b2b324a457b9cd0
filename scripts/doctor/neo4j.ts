import type { Neo4jOptions } from '../../db/graph/neo4j-connection.js';
import { silentLog } from '../support/silent-log.js';
import { CALL_TIMEOUT_MS, type CheckRow, countOf, failed, ok, runChecks, warning } from './checks.js';

const MIN_VERSION = { major: 5, minor: 26 };

/** The connections of a process besides those of the configured pool: maintenance and the circuit breaker's probe. */
const EXTRA_CONNECTIONS = 3;

const READ_VERSION =
  "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version, edition";

const READ_THREADS =
  "SHOW SETTINGS YIELD name, value WHERE name = 'server.bolt.thread_pool_max_size' RETURN toInteger(value) AS threads";

/** Checks a Neo4j server. Changes nothing. A start runs every statement, so it sees missing privileges. */
export async function checkNeo4j(options: Neo4jOptions, processes?: number): Promise<CheckRow[]> {
  const { connectNeo4j } = await import('../../db/graph/neo4j-connection.js');
  const { execute, close } = connectNeo4j({ ...options, poolSize: 1, callTimeoutMs: CALL_TIMEOUT_MS }, silentLog);

  async function checkServer() {
    const [server] = await execute<{ version: string; edition: string }>(READ_VERSION);
    const { version = '', edition = '' } = server ?? {};
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isTooOld = major < MIN_VERSION.major || (major === MIN_VERSION.major && minor < MIN_VERSION.minor);
    const description = `${version} (${edition}) at ${new URL(options.uri).host}`;
    return isTooOld
      ? failed(`${description}: needs version ${MIN_VERSION.major}.${MIN_VERSION.minor} or later`)
      : ok(description);
  }

  async function checkConnections() {
    const [setting] = await execute<{ threads: number }>(READ_THREADS);
    if (!setting) return warning('this user may not read server.bolt.thread_pool_max_size');
    const needed = (processes ?? 1) * (options.poolSize + EXTRA_CONNECTIONS);
    const description = `up to ${needed} used by ${countOf(processes)}, ${setting.threads} threads for all clients`;
    if (needed <= setting.threads) return ok(description);
    return warning(`${description}: raise server.bolt.thread_pool_max_size, or lower NEO4J_POOL`);
  }

  // Ends the probes of the circuit breaker: Neo4j refuses a client for some seconds after three wrong passwords.
  return runChecks(['Neo4j', checkServer], ['Neo4j connections', checkConnections]).finally(() => void close());
}
