import * as cypher from '../../db/graph/cypher.js';
import type { Neo4jConnection, Neo4jOptions } from '../../db/graph/neo4j-connection.js';
import { absentId } from '../../db/graph/neo4j-warm-up.js';
import type { Installation } from '../../db/installation.js';
import {
  CALL_TIMEOUT_MS,
  type CheckResult,
  checkClaim,
  compareClock,
  failed,
  ok,
  type Row,
  runChecks,
  silentLog,
  timedCall,
  warning,
} from './checks.js';

const MIN_VERSION = { major: 5, minor: 26 };

/** The connections of a process besides those of the configured pool: maintenance and the circuit breaker's probe. */
const EXTRA_CONNECTIONS = 3;

const READ_VERSION =
  "CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version, edition";

/** Constrains `Installation`, because it has at most one node, which makes the probe fast. */
const CREATE_PROBE_CONSTRAINT = 'CREATE CONSTRAINT doctor_probe FOR (i:Installation) REQUIRE i.at IS UNIQUE';

/** Checks a Neo4j server. Probes writes in transactions that it rolls back. */
export async function checkNeo4j(options: Neo4jOptions, installation: Installation | undefined): Promise<Row[]> {
  const { connectNeo4j } = await import('../../db/graph/neo4j-connection.js');
  const connection = connectNeo4j({ ...options, poolSize: 2, callTimeoutMs: CALL_TIMEOUT_MS }, silentLog);
  const { read } = connection;
  const claimedBy = async () => (await read<{ id: string }>(cypher.READ_CLAIM))[0]?.id;
  const readClock = async () =>
    (await read<{ ms: number }>('RETURN datetime.realtime().epochMillis AS ms'))[0]?.ms ?? Number.NaN;
  return runChecks(
    [
      ['Neo4j', () => checkServer(connection, options.uri)],
      ['Neo4j clock', () => compareClock(readClock)],
      ['Neo4j permissions', () => checkPermissions(connection)],
      ['Neo4j constraints', () => checkConstraints(connection)],
      ['Neo4j connections', () => checkConnections(connection, options.poolSize + EXTRA_CONNECTIONS)],
      ['Neo4j installation', () => checkClaim(installation, 'graph', { kind: 'neo4j', claimedBy })],
    ],
    connection.close,
  );
}

async function checkServer({ read }: Neo4jConnection, uri: string): Promise<CheckResult> {
  const { result, duration } = await timedCall(() => read<{ version: string; edition: string }>(READ_VERSION));
  const { version = '', edition = '' } = result[0] ?? {};
  const { host, protocol } = new URL(uri);
  const tls = /\+ssc/.test(protocol) ? 'TLS without verification' : /\+s/.test(protocol) ? 'TLS' : 'no TLS';
  const description = `${version} (${edition}) at ${host}, ${tls}, ${duration}`;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isTooOld = major < MIN_VERSION.major || (major === MIN_VERSION.major && minor < MIN_VERSION.minor);
  return isTooOld
    ? failed(`${description}: needs version ${MIN_VERSION.major}.${MIN_VERSION.minor} or later`)
    : ok(description);
}

async function checkPermissions({ runAndRollBack }: Neo4jConnection): Promise<CheckResult> {
  const id = absentId();
  await runAndRollBack(async (run) => {
    await run(cypher.LIKE, { likes: [{ person: id, post: id }] });
    await run(cypher.REMOVE_PERSON, { id });
  });
  // A transaction cannot change both data and schema.
  await runAndRollBack(async (run) => void (await run(CREATE_PROBE_CONSTRAINT)));
  return ok('write nodes, create constraints (probes rolled back)');
}

async function checkConstraints({ read }: Neo4jConnection): Promise<CheckResult> {
  const constraints = await read<{ name: string }>('SHOW CONSTRAINTS YIELD name');
  const offline = await read<{ name: string; state: string }>(
    "SHOW INDEXES YIELD name, state WHERE state <> 'ONLINE' RETURN name, state",
  );
  if (offline.length > 0) return failed(offline.map(({ name, state }) => `index ${name} is ${state}`).join(', '));
  const names = new Set(constraints.map(({ name }) => name));
  const missing = cypher.CONSTRAINTS.map(({ name }) => name).filter((name) => !names.has(name));
  if (missing.length === 0) return ok(`all ${cypher.CONSTRAINTS.length} exist`);
  return warning(`missing: ${missing.join(', ')}; the next start creates them, or npm run migrate`);
}

async function checkConnections({ read }: Neo4jConnection, needed: number): Promise<CheckResult> {
  const [setting] = await read<{ value: string }>(
    "SHOW SETTINGS YIELD name, value WHERE name = 'server.bolt.thread_pool_max_size' RETURN value",
  );
  if (!setting) return warning('this user may not read server.bolt.thread_pool_max_size');
  const description = `up to ${needed} used by each process, ${setting.value} threads for all clients`;
  if (needed <= Number(setting.value)) return ok(description);
  return warning(`${description}: raise server.bolt.thread_pool_max_size, or lower NEO4J_POOL`);
}
