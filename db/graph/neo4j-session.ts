import { setTimeout as sleep } from 'node:timers/promises';
import neo4j, { type Driver, Neo4jError, type Session } from 'neo4j-driver';
import { createCircuitBreaker } from '../support/circuit-breaker.js';
import type { Log } from '../support/log.js';

export interface Neo4jOptions {
  /** `neo4j://…` or `bolt://…`, with `+s` or `+ssc` for TLS. */
  uri: string;
  /** Without these the server is asked without authentication. */
  username?: string | undefined;
  password?: string | undefined;
  /** The most connections of one process. */
  poolSize: number;
  /** How long to wait for an answer, in milliseconds. */
  timeout: number;
}

/** Runs one statement. Numbers among the parameters are integers. */
export type Run = <Row extends object>(cypher: string, parameters?: object) => Promise<Row[]>;

/** Every method throws StoreUnavailable when the server does not answer in time. */
export interface Neo4jConnection {
  /** One statement that changes nothing, and so needs no transaction around it. */
  read: Run;
  /**
   * Does all of the work or none of it. After what passes by itself, like a deadlock or a lost connection, it is tried
   * again: `work` may run several times, and an earlier try whose answer was lost may have been committed.
   */
  write<Result>(work: (run: Run) => Promise<Result>): Promise<Result>;
  /** Does all of the work, and takes it back. */
  rehearse(work: (run: Run) => Promise<void>): Promise<void>;
  /** How long after its call a transaction that was given up may still be committed, in milliseconds. */
  readonly maxCommitDelayMs: number;
  close(): Promise<void>;
}

/** In milliseconds: a deadlock is gone after the first pause or two. */
const RETRY_BACKOFF_MS = { first: 20, longest: 320 };

/** How often a lost connection is tried anew within one call: a server that is gone should be noticed before the deadline. */
const MAX_RECONNECTIONS = 5;

/** A connection that was idle for this long, in milliseconds, is looked at before it is used: something may have cut it. */
const LIVENESS_CHECK_AFTER_MS = 30_000;

/** How often the server looks for transactions that are over their time, in milliseconds. */
const MONITOR_INTERVAL_MS = 2000;

/** For the driver: the whole result at once, since all of it is wanted. */
const FETCH_ALL = -1;

/** Each call has until the deadline, which may be longer than what is enough for a connection to be made or closed. */
export function connectNeo4j(
  { uri, username, password, poolSize, timeout }: Neo4jOptions,
  log: Log,
  deadline: number,
  warmUp?: () => Promise<void>,
): Neo4jConnection {
  const auth = username === undefined ? undefined : neo4j.auth.basic(username, password ?? '');
  const open = (connections: number) =>
    neo4j.driver(uri, auth, {
      maxConnectionPoolSize: connections,
      connectionTimeout: timeout,
      connectionAcquisitionTimeout: deadline,
      connectionLivenessCheckTimeout: LIVENESS_CHECK_AFTER_MS,
      disableLosslessIntegers: true,
      telemetryDisabled: true,
    });
  let driver = open(poolSize);

  /**
   * Goes on with new connections. The driver waits for ever for those that have gone silent; what is still under way on the
   * others has until its own deadline.
   */
  function renew(silent: Driver): void {
    if (silent !== driver) return;
    driver = open(poolSize);
    setTimeout(close, deadline, silent).unref();
  }

  let asked: Promise<unknown> | undefined;

  /** On a connection of its own. One question at a time: of a server that is silent from the start the driver never lets go. */
  async function probe(): Promise<unknown> {
    asked ??= verify().finally(() => {
      asked = undefined;
    });
    return asked;
  }

  async function verify(): Promise<void> {
    const fresh = open(1);
    const late = AbortSignal.timeout(timeout);
    try {
      await Promise.race([
        fresh.verifyConnectivity(),
        new Promise((_, reject) => late.addEventListener('abort', () => reject(late.reason), { once: true })),
      ]);
    } finally {
      void close(fresh);
    }
  }

  const guard = createCircuitBreaker({
    store: 'graph',
    timeout: deadline,
    probe,
    isUnavailable,
    onOpen: () => renew(driver),
    ...(warmUp && { warmUp }),
    log,
  });

  /**
   * Lends a session. Once nobody waits any more it is closed, which ends its work at the server too; a connection on which
   * not even that is answered has gone silent.
   */
  async function withSession<Result>(signal: AbortSignal, use: (session: Session) => Promise<Result>): Promise<Result> {
    const lender = driver;
    // What decides who sees what is read where it was written: the followers in a cluster may lag.
    const session = lender.session({ defaultAccessMode: neo4j.session.WRITE, fetchSize: FETCH_ALL });
    let returned: Promise<void> | undefined;
    const giveBack = async () => {
      returned ??= session.close().catch(() => undefined);
      return returned;
    };
    const giveUp = async () => {
      const timer = setTimeout(renew, timeout, lender).unref();
      await giveBack();
      clearTimeout(timer);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await use(session);
    } finally {
      await giveBack();
      signal.removeEventListener('abort', giveUp);
    }
  }

  const call = <Result>(use: (session: Session, signal: AbortSignal) => Promise<Result>) =>
    guard.run(({ signal }) => persist(signal, () => withSession(signal, (session) => use(session, signal))));

  return {
    read: (cypher, parameters) =>
      call(async (session) => rows(await session.run(cypher, integers(parameters), { timeout: deadline }))),

    write: (work) =>
      call(async (session, signal) => {
        // From the answer to this on the server's clock runs, too: whatever is stuck on the way comes too late to change anything.
        const transaction = await session.beginTransaction({ timeout: deadline });
        const result = await work(async (cypher, parameters) => {
          signal.throwIfAborted();
          return rows(await transaction.run(cypher, integers(parameters)));
        });
        signal.throwIfAborted();
        await transaction.commit();
        return result;
      }),

    rehearse: (work) =>
      call(async (session) => {
        const transaction = await session.beginTransaction({ timeout: deadline });
        await work(async (cypher, parameters) => rows(await transaction.run(cypher, integers(parameters))));
        await transaction.rollback();
      }),

    // The last try may begin just before the deadline, and then has the same time again at the server.
    maxCommitDelayMs: 5 * deadline + MONITOR_INTERVAL_MS,

    async close() {
      guard.close();
      await close(driver);
    },
  };
}

/** Drops every connection at once, answered or not. */
async function close(driver: Driver): Promise<void> {
  await driver.close().catch(() => undefined);
}

/** The driver's own retries begin after a second, which is too late. */
async function persist<Result>(signal: AbortSignal, attempt: () => Promise<Result>): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isContention(error) && !(neo4j.isRetryableError(error) && failures < MAX_RECONNECTIONS)) throw error;
    }
    const pause = Math.min(RETRY_BACKOFF_MS.first * 2 ** failures, RETRY_BACKOFF_MS.longest);
    await sleep(pause * (0.5 + Math.random()), undefined, { signal });
  }
}

/** A deadlock, or a node that a statement has found and then missed, since another removed it meanwhile. */
function isContention(error: unknown): boolean {
  return (
    error instanceof Neo4jError &&
    /^Neo\.(TransientError\.Transaction\.|ClientError\.Statement\.EntityNotFound$)/.test(error.code)
  );
}

// biome-ignore lint/suspicious/noExplicitAny: what a row holds is known where its statement is.
const rows = ({ records }: { records: { toObject(): any }[] }) => records.map((record) => record.toObject());

/** The driver sends every number as a float, unless told otherwise. */
function integers(value: unknown): unknown {
  if (typeof value === 'number') return neo4j.int(value);
  if (Array.isArray(value)) return value.map(integers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, nested]) => [key, integers(nested)]));
}

/**
 * What speaks of the server and not of the statement: its connection, its own troubles, who may ask it, a transaction that
 * it has ended, a database or a leader that is not there. N/A is the driver's word for what it says itself, such as that no
 * connection was to be had.
 */
const UNAVAILABLE =
  /^(ServiceUnavailable$|SessionExpired$|ProtocolError$|N\/A$|Neo\.TransientError\.|Neo\.DatabaseError\.|Neo\.ClientError\.(Security|Transaction|Cluster|Database)\.|Neo\.ClientError\.General\.ForbiddenOnReadOnlyDatabase$)/;

function isUnavailable(error: unknown): boolean {
  return error instanceof Neo4jError && UNAVAILABLE.test(error.code);
}
