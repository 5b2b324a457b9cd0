import { setTimeout as sleep } from 'node:timers/promises';
import neo4j, { type Driver, Neo4jError, type Session } from 'neo4j-driver';
import { createCircuitBreaker } from '../support/circuit-breaker.js';
import type { Log } from '../support/log.js';

/**
 * Calls to Neo4j, each with a timeout and behind a circuit breaker.
 *
 * A call opens a session, and closes it when the call is given up, which also ends its work on the server. Deadlocks are
 * retried with jittered exponential backoff until the call times out, and lost connections a few times; the driver's own
 * retries wait at least a second. The driver waits indefinitely for a connection that no longer responds. When the breaker
 * opens, or when a session does not close in time, the driver is therefore replaced, and the old one is closed when its calls
 * have timed out.
 */

export interface Neo4jOptions {
  /** `neo4j://…` or `bolt://…`, with `+s` or `+ssc` for TLS. */
  uri: string;
  /** Without credentials, connections are not authenticated. */
  username?: string | undefined;
  password?: string | undefined;
  /** The maximum number of connections of one process. */
  poolSize: number;
  /** The timeout of a call, and of opening a connection, in milliseconds. */
  timeoutMs: number;
}

/** Runs one statement. Numbers in the parameters are sent as integers. */
export type Run = <Row extends object>(cypher: string, parameters?: object) => Promise<Row[]>;

/** Calls throw StoreUnavailableError if the server is unavailable or does not respond within the timeout. */
export interface Neo4jConnection {
  /** Runs one read-only statement, as an auto-commit transaction. */
  read: Run;
  /**
   * Runs `work` in a transaction, and again after a retryable error. If the response to a commit was lost, the earlier attempt
   * may have been committed.
   */
  write<Result>(work: (run: Run) => Promise<Result>): Promise<Result>;
  /** Runs `work` in a transaction, and rolls the transaction back. Retries like `write`. */
  runAndRollBack(work: (run: Run) => Promise<void>): Promise<void>;
  /** How long the server may still commit a transaction after its call was given up, in milliseconds. */
  readonly maxCommitDelayMs: number;
  close(): Promise<void>;
}

/** A deadlock is usually resolved after one or two attempts. */
const RETRY_BACKOFF_MS = { first: 20, max: 320 };

/** Retries of a call after errors other than contention. The limit detects a stopped server before the call times out. */
const MAX_RETRIES = 5;

/** A connection that was idle for longer is tested before use: a firewall may have dropped it. */
const LIVENESS_CHECK_AFTER_MS = 30_000;

/** How often the server looks for transactions that exceed their timeout. */
const MONITOR_INTERVAL_MS = 2000;

/** The driver's `fetchSize` for fetching a result in one batch. */
const FETCH_ALL = -1;

/** Connects to Neo4j. `callTimeoutMs` limits a call, `timeoutMs` limits opening and closing a connection. */
export function connectNeo4j(
  { uri, username, password, poolSize, timeoutMs }: Neo4jOptions,
  log: Log,
  callTimeoutMs: number,
  warmUp?: () => Promise<void>,
): Neo4jConnection {
  const auth = username === undefined ? undefined : neo4j.auth.basic(username, password ?? '');
  const open = (connections: number) =>
    neo4j.driver(uri, auth, {
      maxConnectionPoolSize: connections,
      connectionTimeout: timeoutMs,
      connectionAcquisitionTimeout: callTimeoutMs,
      connectionLivenessCheckTimeout: LIVENESS_CHECK_AFTER_MS,
      disableLosslessIntegers: true,
      telemetryDisabled: true,
    });
  let driver = open(poolSize);

  /** Replaces the driver, unless it was replaced already. Calls in progress on the old one end within their timeout. */
  function replaceDriver(unresponsive: Driver): void {
    if (unresponsive !== driver) return;
    driver = open(poolSize);
    setTimeout(close, callTimeoutMs, unresponsive).unref();
  }

  let pendingProbe: Promise<unknown> | undefined;

  /** Runs one probe at a time: while a server accepts connections but never responds, the driver leaks each connection. */
  async function probe(): Promise<unknown> {
    pendingProbe ??= verifyConnectivity().finally(() => {
      pendingProbe = undefined;
    });
    return pendingProbe;
  }

  async function verifyConnectivity(): Promise<void> {
    const probeDriver = open(1);
    const expired = AbortSignal.timeout(timeoutMs);
    try {
      await Promise.race([
        probeDriver.verifyConnectivity(),
        new Promise((_, reject) => expired.addEventListener('abort', () => reject(expired.reason), { once: true })),
      ]);
    } finally {
      void close(probeDriver);
    }
  }

  const breaker = createCircuitBreaker({
    store: 'graph',
    timeoutMs: callTimeoutMs,
    probe,
    isUnavailable,
    onOpen: () => replaceDriver(driver),
    ...(warmUp && { warmUp }),
    log,
  });

  /** Runs `use` with a session, and closes the session afterwards or when the signal aborts. */
  async function withSession<Result>(signal: AbortSignal, use: (session: Session) => Promise<Result>): Promise<Result> {
    const sessionDriver = driver;
    // Reads go to the leader too: visibility checks must not read from a follower that lags behind.
    const session = sessionDriver.session({ defaultAccessMode: neo4j.session.WRITE, fetchSize: FETCH_ALL });
    let closing: Promise<void> | undefined;
    const closeSession = async () => {
      closing ??= session.close().catch(() => undefined);
      return closing;
    };
    const abandon = async () => {
      const timer = setTimeout(replaceDriver, timeoutMs, sessionDriver).unref();
      await closeSession();
      clearTimeout(timer);
    };
    signal.addEventListener('abort', abandon, { once: true });
    try {
      return await use(session);
    } finally {
      await closeSession();
      signal.removeEventListener('abort', abandon);
    }
  }

  const call = <Result>(use: (session: Session, signal: AbortSignal) => Promise<Result>) =>
    breaker.run(({ signal }) => withRetries(signal, () => withSession(signal, (session) => use(session, signal))));

  // A transaction that was given up commits last if its BEGIN was sent just before the call timed out. The connection still
  // delivers messages until its session is closed within `timeoutMs`, or else its driver after `callTimeoutMs`; the network
  // may then hold them for about as long again, which is an assumption. The server ends the transaction after the timeout
  // that BEGIN contains, at the next check.
  const messageDelayMs = 2 * (timeoutMs + callTimeoutMs);
  const transactionMs = callTimeoutMs + MONITOR_INTERVAL_MS;

  return {
    read: (cypher, parameters) =>
      call(async (session) => toRows(await session.run(cypher, toIntegers(parameters), { timeout: callTimeoutMs }))),

    write: (work) =>
      call(async (session, signal) => {
        // The server enforces the timeout too: a commit that is delayed on the network arrives too late to take effect.
        const transaction = await session.beginTransaction({ timeout: callTimeoutMs });
        const result = await work(async (cypher, parameters) => {
          signal.throwIfAborted();
          return toRows(await transaction.run(cypher, toIntegers(parameters)));
        });
        signal.throwIfAborted();
        await transaction.commit();
        return result;
      }),

    runAndRollBack: (work) =>
      call(async (session) => {
        const transaction = await session.beginTransaction({ timeout: callTimeoutMs });
        await work(async (cypher, parameters) => toRows(await transaction.run(cypher, toIntegers(parameters))));
        await transaction.rollback();
      }),

    maxCommitDelayMs: messageDelayMs + transactionMs,

    async close() {
      breaker.close();
      await close(driver);
    },
  };
}

/** Closes every connection immediately, including those in use. */
async function close(driver: Driver): Promise<void> {
  await driver.close().catch(() => undefined);
}

/** Retries contention until the signal aborts, and other retryable errors before `MAX_RETRIES` retries were made. */
async function withRetries<Result>(signal: AbortSignal, attempt: () => Promise<Result>): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isContention(error) && !(neo4j.isRetryableError(error) && failures < MAX_RETRIES)) throw error;
    }
    const backoffMs = Math.min(RETRY_BACKOFF_MS.first * 2 ** failures, RETRY_BACKOFF_MS.max);
    await sleep(backoffMs * (0.5 + Math.random()), undefined, { signal });
  }
}

/** Returns whether the error is a deadlock, or a node that a concurrent transaction deleted after it was matched. */
function isContention(error: unknown): boolean {
  return (
    error instanceof Neo4jError &&
    /^Neo\.(TransientError\.Transaction\.|ClientError\.Statement\.EntityNotFound$)/.test(error.code)
  );
}

// biome-ignore lint/suspicious/noExplicitAny: the type of a row is known where the statement is run.
const toRows = ({ records }: { records: { toObject(): any }[] }) => records.map((record) => record.toObject());

/** Converts numbers to the driver's integers, because it sends JavaScript numbers as floats. */
function toIntegers(value: unknown): unknown {
  if (typeof value === 'number') return neo4j.int(value);
  if (Array.isArray(value)) return value.map(toIntegers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, nested]) => [key, toIntegers(nested)]));
}

/**
 * Codes of errors that are not caused by the statement: connection, server errors, authentication, a terminated transaction,
 * a missing or read-only database, a missing leader. N/A is the driver's code for its own errors, such as an exhausted pool.
 */
const UNAVAILABLE =
  /^(ServiceUnavailable$|SessionExpired$|ProtocolError$|N\/A$|Neo\.TransientError\.|Neo\.DatabaseError\.|Neo\.ClientError\.(Security|Transaction|Cluster|Database)\.|Neo\.ClientError\.General\.ForbiddenOnReadOnlyDatabase$)/;

function isUnavailable(error: unknown): boolean {
  return error instanceof Neo4jError && UNAVAILABLE.test(error.code);
}
