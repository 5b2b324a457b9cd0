import { setTimeout as sleep } from 'node:timers/promises';
import neo4j, { type Driver, Neo4jError, type Session } from 'neo4j-driver';
import { createCircuitBreaker, MAX_PROBE_TIMEOUT_MS } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { withTimeout } from '../support/timeout.js';

/*
 * Calls to Neo4j, each with a timeout and behind a circuit breaker.
 *
 * Sessions: each call opens a session. When the call ends or is abandoned, the session is closed, which also ends its work on
 * the server.
 *
 * Retries: deadlocks are retried with jittered exponential backoff until the call times out. Lost connections are retried a few
 * times, but `write` is not repeated if its commit may have reached the server. The driver's own retries are not used, because
 * they wait at least a second.
 *
 * Replacement of the driver: the driver waits for minutes for a connection that no longer responds. So it is replaced when the
 * breaker opens, or when a session does not close in time. The old driver is closed once its calls have timed out.
 */

export interface Neo4jOptions {
  /** `neo4j://…` or `bolt://…`, with `+s` or `+ssc` for TLS. */
  uri: string;
  /** Undefined if connections need no authentication. */
  username?: string | undefined;
  password?: string | undefined;
  /** The maximum number of connections of one process. */
  poolSize: number;
  /** The timeout of a request's call, of opening a connection, and of closing a session. */
  timeoutMs: number;
}

interface ConnectionOptions extends Neo4jOptions {
  /** The timeout of one call, if other than `timeoutMs`. */
  callTimeoutMs?: number;
}

interface ConnectionHooks {
  /** Called when the circuit breaker opens. */
  onOpen?: () => void;
  /** Prepares a server that is available again, before the circuit breaker closes. */
  warmUp?: () => Promise<void>;
}

/** Runs one statement and returns its rows. Numbers in the parameters are sent as integers. */
export type Run = <Row extends object>(cypher: string, parameters?: object) => Promise<Row[]>;

/** A pool of connections. Its calls throw StoreUnavailableError if the server is unavailable or does not respond in time. */
export interface Neo4jConnection {
  /** Runs one statement as an auto-commit transaction. After a lost connection, it is repeated, so it may take effect twice. */
  execute: Run;
  /**
   * Runs `work` in a transaction, and repeats it after a retryable error. If the response to the commit is lost, throws
   * StoreUnavailableError instead: the transaction may have been committed.
   */
  write<Result>(work: (run: Run) => Promise<Result>): Promise<Result>;
  /** Runs `work` in a transaction and rolls it back. Retries like `write`. */
  runAndRollBack(work: (run: Run) => Promise<void>): Promise<void>;
  /** How long after a call has begun the server may still commit its transaction, even if the call was abandoned. */
  readonly maxCommitDelayMs: number;
  /** Makes later calls open new connections, because the open ones may no longer respond. Calls in progress continue. */
  reconnect(): void;
  close(): Promise<void>;
}

/** The wait before a retry. One or two retries usually resolve a deadlock. */
const RETRY_BACKOFF_MS = { first: 20, max: 320 };

/** Limits retries after errors other than contention, so that calls to a stopped server fail before they time out. */
const MAX_RETRIES = 5;

/** A connection that was idle for longer than this is tested before it is used: a firewall may have dropped it. */
const LIVENESS_CHECK_AFTER_MS = 30_000;

/** How often the server looks for transactions that exceed their timeout. */
const MONITOR_INTERVAL_MS = 2000;

/** The value of the driver's `fetchSize` that fetches a result in one batch. */
const FETCH_ALL = -1;

/** Connects to Neo4j. */
export function connectNeo4j(
  { uri, username, password, poolSize, timeoutMs, callTimeoutMs = timeoutMs }: ConnectionOptions,
  log: Log,
  { onOpen, warmUp }: ConnectionHooks = {},
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
  /** Drivers that have been replaced, and are still open. */
  const replaced = new Set<Driver>();

  /** Replaces the driver, unless it has already been replaced. Closes the old one when its calls have timed out. */
  function replaceDriver(unresponsive: Driver): void {
    if (unresponsive !== driver) return;
    driver = open(poolSize);
    replaced.add(unresponsive);
    setTimeout(() => close(unresponsive).then(() => replaced.delete(unresponsive)), callTimeoutMs).unref();
  }

  let pendingProbe: Promise<unknown> | undefined;

  /** Runs one probe at a time: the driver leaks the connection of a probe if the server accepts it but never responds. */
  async function probe(): Promise<unknown> {
    pendingProbe ??= verifyConnectivity().finally(() => {
      pendingProbe = undefined;
    });
    return pendingProbe;
  }

  async function verifyConnectivity(): Promise<void> {
    const probeDriver = open(1);
    try {
      await withTimeout(Math.min(timeoutMs, MAX_PROBE_TIMEOUT_MS), probeDriver.verifyConnectivity());
    } finally {
      void close(probeDriver);
    }
  }

  const breaker = createCircuitBreaker({
    store: 'graph',
    timeoutMs: callTimeoutMs,
    probe,
    isUnavailable,
    onOpen() {
      replaceDriver(driver);
      onOpen?.();
    },
    warmUp,
    log,
  });

  /** Runs `use` with a session. Closes the session afterwards, or when the signal aborts. */
  async function withSession<Result>(signal: AbortSignal, use: (session: Session) => Promise<Result>): Promise<Result> {
    const sessionDriver = driver;
    // Write access for reads too, so that they go to the leader: visibility checks must not read from a follower that lags.
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
    breaker.run((signal) => withRetries(signal, () => withSession(signal, (session) => use(session, signal))));

  const inTransaction = <Result>(work: (run: Run) => Promise<Result>, end: 'commit' | 'rollback') =>
    call(async (session, signal) => {
      // The server also enforces the timeout, so a commit that the network delays for longer has no effect.
      const transaction = await session.beginTransaction({ timeout: callTimeoutMs });
      const result = await work(async (cypher, parameters) => {
        signal.throwIfAborted();
        return toRows(await transaction.run(cypher, toIntegers(parameters)));
      });
      signal.throwIfAborted();
      await transaction[end]().catch((cause) => {
        throw isUnavailable(cause) && !isContention(cause) ? new StoreUnavailableError('graph', { cause }) : cause;
      });
      return result;
    });

  // How long after a call was abandoned its BEGIN, or its only statement, may still reach the server. The connection can send
  // messages for `timeoutMs`, until the session is closed, plus `callTimeoutMs`, until the replaced driver is closed. The network
  // is assumed to delay a message by at most the sum of both.
  const messageDelayMs = 2 * (timeoutMs + callTimeoutMs);
  // How long after its BEGIN a transaction may still commit. BEGIN contains the timeout of the transaction, and the server ends
  // the transaction at its first check after that timeout.
  const transactionMs = callTimeoutMs + MONITOR_INTERVAL_MS;

  return {
    execute: (cypher, parameters) =>
      call(async (session) => toRows(await session.run(cypher, toIntegers(parameters), { timeout: callTimeoutMs }))),

    write: (work) => inTransaction(work, 'commit'),

    runAndRollBack: (work) => inTransaction(work, 'rollback'),

    maxCommitDelayMs: callTimeoutMs + messageDelayMs + transactionMs,

    reconnect: () => replaceDriver(driver),

    async close() {
      breaker.shutDown();
      await Promise.all([driver, ...replaced].map(close));
    },
  };
}

/** Closes every connection immediately, including those in use. */
async function close(driver: Driver): Promise<void> {
  await driver.close().catch(() => undefined);
}

/** Repeats an attempt: after contention until the signal aborts, after other retryable errors at most `MAX_RETRIES` times. */
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

/**
 * Returns whether the error is a deadlock or another transient error of the transaction, or refers to a node that a concurrent
 * transaction has deleted since it was matched.
 */
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
 * Codes of errors that are not caused by the statement: lost connections, server errors, failed authentication, a terminated
 * transaction, a missing or read-only database, a missing leader. N/A is the driver's code for its own errors, such as an
 * exhausted pool.
 */
const UNAVAILABLE =
  /^(ServiceUnavailable$|SessionExpired$|ProtocolError$|N\/A$|Neo\.TransientError\.|Neo\.DatabaseError\.|Neo\.ClientError\.(Security|Transaction|Cluster|Database)\.|Neo\.ClientError\.General\.ForbiddenOnReadOnlyDatabase$)/;

function isUnavailable(error: unknown): boolean {
  return error instanceof Neo4jError && UNAVAILABLE.test(error.code);
}
