import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { StoreUnavailableError } from '../support/errors.js';
import { createAvailabilityLog, type Log } from '../support/log.js';
import { type Observer, timed } from '../support/observer.js';
import { timedOut } from '../support/timeout.js';

/*
 * The connection to Redis, whose counters all processes share. Redis is optional, and each use has a fallback: if Redis is
 * unavailable, each process counts on its own.
 *
 * There is no circuit breaker. When the connection stops responding, calls wait for their timeout until ioredis closes the
 * connection, after `socketTimeout`. While there is no connection, calls fail immediately.
 */

/** The prefix of all keys, because other applications may use the same database. */
export const KEY_PREFIX = 'social-posting:';

/** The timeout of a connection attempt. When the service starts, it waits at most this long for the connection. */
const CONNECT_TIMEOUT_MS = 1000;

/** If a command gets no response for this long, or for its timeout if that is longer, the connection is replaced. */
const MIN_SOCKET_TIMEOUT_MS = 1000;

const MAX_RECONNECTION_DELAY_MS = 1000;

export interface RedisConnection {
  readonly client: Redis;
  /** Receives the duration and outcome of all calls. */
  readonly observer: Observer;
  /** Runs a call within its timeout. @throws StoreUnavailableError on any error */
  run<Result>(verb: string, call: (client: Redis) => Promise<Result>): Promise<Result>;
  /** Checks that Redis accepts writes. @throws StoreUnavailableError */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface RedisOptions {
  /** Must not be logged, because it may contain a password. */
  url: string;
  /** The timeout of one call. */
  timeoutMs: number;
}

/** Connects to Redis. Returns even if Redis is unavailable, and then connects in the background. */
export async function openRedis(
  { url, timeoutMs }: RedisOptions,
  log: Log,
  observer: Observer,
): Promise<RedisConnection> {
  const { protocol, hostname } = new URL(url);
  const client = new Redis(url, {
    // Sends the server name (SNI, RFC 6066 section 3), which some servers need to select their certificate.
    ...(protocol === 'rediss:' && !isIP(hostname.replace(/[[\]]/g, '')) && { tls: { servername: hostname } }),
    lazyConnect: true,
    // While disconnected, commands fail immediately. If they were queued, they would run after their request has ended.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: timeoutMs,
    socketTimeout: Math.max(MIN_SOCKET_TIMEOUT_MS, timeoutMs),
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECTION_DELAY_MS),
  });

  /** The first error since the last connection. It is more specific than the error of later calls, "Connection is closed". */
  let connectionError: Error | undefined;
  client.on('connect', () => {
    connectionError = undefined;
  });
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // If the database cannot be selected, ioredis would continue in database 0, which may belong to another application.
    if (error.command?.name === 'select') client.disconnect(true);
    // The command may contain the password.
    delete error.command;
    connectionError ??= error;
  });

  /** Returns why a call has failed: ioredis's own errors describe its options instead. */
  function causeOf(error: unknown): unknown {
    if (connectionError) return connectionError;
    if ((error as Error).message === 'Command timed out') return timedOut(timeoutMs);
    return client.status === 'ready' ? error : new Error(`not connected (${client.status})`);
  }

  const availability = createAvailabilityLog(log, 'redis');

  async function callAndLog<Result>(call: (client: Redis) => Promise<Result>): Promise<Result> {
    try {
      const result = await call(client);
      availability.succeeded();
      return result;
    } catch (error) {
      const cause = causeOf(error);
      availability.failed(cause);
      throw new StoreUnavailableError('redis', { cause });
    }
  }

  const run: RedisConnection['run'] = (verb, call) => timed(observer, 'redis', verb, callAndLog(call));

  // Writes a key, as the counters do: a replica or a server without free memory responds to PING, but rejects writes.
  const check = async () => {
    await run('check', () => client.eval("return redis.call('set', KEYS[1], '', 'px', 1000)", 1, `${KEY_PREFIX}check`));
  };

  // Connecting has a timeout of its own, because it may take longer than a call.
  await Promise.race([client.connect().catch(() => undefined), sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  await check().catch(() => undefined);
  return {
    client,
    observer,
    run,
    check,
    async close() {
      client.disconnect();
    },
  };
}
