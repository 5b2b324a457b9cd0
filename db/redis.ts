import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createCircuitBreaker } from './support/circuit-breaker.js';
import type { Log } from './support/log.js';
import { type Observer, timed } from './support/observer.js';

/** The prefix of all keys: other applications may use the same database. */
export const KEY_PREFIX = 'social-posting:';

/** Limits a connection attempt, and the wait for the first one. */
const CONNECT_TIMEOUT_MS = 1000;

const MIN_SOCKET_TIMEOUT_MS = 1000;

const MAX_RECONNECTION_DELAY_MS = 1000;

export interface RedisConnection {
  readonly client: Redis;
  /** Receives the measurements of all calls. */
  readonly observer: Observer;
  /** Runs a call within its timeout. @throws StoreUnavailableError on any error: every use of Redis has a fallback */
  run<Result>(verb: string, call: (client: Redis) => Promise<Result>): Promise<Result>;
  /** Sends a PING. @throws StoreUnavailableError */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  /** May hold a password. */
  url: string;
  /** The timeout of one call, in milliseconds. */
  timeoutMs: number;
}

/** Connects to Redis. If it is unavailable, returns anyway and reconnects in the background. */
export async function openRedis({ url, timeoutMs }: Options, log: Log, observer: Observer): Promise<RedisConnection> {
  const { protocol, hostname } = new URL(url);
  const client = new Redis(url, {
    // Without a server name Node sends no SNI, which some servers need to select their certificate (RFC 6066 section 3).
    ...(protocol === 'rediss:' && !isIP(hostname.replace(/[[\]]/g, '')) && { tls: { servername: hostname } }),
    lazyConnect: true,
    // Commands fail immediately while disconnected instead of running after their request has ended.
    enableOfflineQueue: false,
    // Sends all commands of one event loop iteration in one write.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: Math.max(MIN_SOCKET_TIMEOUT_MS, timeoutMs),
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECTION_DELAY_MS),
  });

  /** The first error since the last connection. It is more specific than the "Connection is closed" of later calls. */
  let connectionError: Error | undefined;
  client.on('connect', () => {
    connectionError = undefined;
  });
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // ioredis would continue in database 0, which may belong to another application.
    if (error.command?.name === 'select') client.disconnect(true);
    // The command contains the password.
    delete error.command;
    connectionError ??= error;
  });

  const breaker = createCircuitBreaker({
    store: 'redis',
    timeoutMs,
    log,
    // Writes, as the counters do: a replica or a server out of memory still responds to PING.
    probe: () => client.eval("return redis.call('set', KEYS[1], '', 'px', 1000)", 1, `${KEY_PREFIX}probe`),
    isUnavailable: () => true,
  });

  function run<Result>(verb: string, call: (client: Redis) => Promise<Result>): Promise<Result> {
    const rethrow = (error: unknown) => {
      throw connectionError ?? error;
    };
    return timed(
      observer,
      'redis',
      verb,
      breaker.run(() => call(client).catch(rethrow)),
    );
  }

  const check = async () => {
    await run('ping', () => client.ping());
  };

  // Connecting may take longer than the timeout of a call.
  await Promise.race([client.connect().catch(() => undefined), sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  await check().catch(() => undefined);
  return {
    client,
    observer,
    run,
    check,
    async close() {
      breaker.close();
      client.disconnect();
    },
  };
}
