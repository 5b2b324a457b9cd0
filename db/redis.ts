import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createCircuitBreaker } from './support/circuit-breaker.js';
import type { Log } from './support/log.js';
import { type Observer, timed } from './support/observer.js';

/** What of the service's is in Redis begins with this: others may keep theirs beside it. */
export const PREFIX = 'social-posting:';

/**
 * How long a connection may take to be made, or owe an answer, before it is given up; and the longest pause before the next
 * one. In milliseconds.
 */
const CONNECT_TIMEOUT_MS = 1000;

export interface RedisConnection {
  readonly client: Redis;
  /** Asks Redis within its deadline. @throws StoreUnavailable whatever goes wrong: everybody has to do without Redis */
  run<Result>(verb: string, call: (client: Redis) => Promise<Result>): Promise<Result>;
  /** Whether it answers. @throws StoreUnavailable */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  /** May hold a password. */
  url: string;
  /** The deadline of one call, in milliseconds. */
  timeout: number;
}

/** Connects to Redis, now if it answers, else as soon as it does. */
export async function openRedis({ url, timeout }: Options, log: Log, observer: Observer): Promise<RedisConnection> {
  const { protocol, hostname } = new URL(url);
  const client = new Redis(url, {
    // Node names no host by itself, and some servers find their certificate by it (RFC 6066 section 3).
    ...(protocol === 'rediss:' && !isIP(hostname.replace(/[[\]]/g, '')) && { tls: { servername: hostname } }),
    lazyConnect: true,
    // What cannot be asked now is not asked later: by then nobody waits for the answer.
    enableOfflineQueue: false,
    // All commands of one turn of the event loop in one write.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: Math.max(CONNECT_TIMEOUT_MS, timeout),
    retryStrategy: (attempt) => Math.min(attempt * 100, CONNECT_TIMEOUT_MS),
  });

  /** Why there is no connection, which says more than that there is none. */
  let trouble: Error | undefined;
  client.on('connect', () => {
    trouble = undefined;
  });
  client.on('error', (error: Error & { command?: { name: string } }) => {
    // ioredis would go on in database 0, which is somebody else's.
    if (error.command?.name === 'select') client.disconnect(true);
    // It holds the password.
    delete error.command;
    trouble ??= error;
  });

  const guard = createCircuitBreaker({
    store: 'redis',
    timeout,
    log,
    // What a counter needs, a script that writes: a replica, or a server without memory, would still answer PING.
    probe: () => client.eval("return redis.call('set', KEYS[1], '', 'px', 1000)", 1, `${PREFIX}probe`),
    isUnavailable: () => true,
  });

  function run<Result>(verb: string, call: (client: Redis) => Promise<Result>): Promise<Result> {
    const reasoned = (error: unknown) => {
      throw trouble ?? error;
    };
    return timed(
      observer,
      'redis',
      verb,
      guard.run(() => call(client).catch(reasoned)),
    );
  }

  const check = async () => {
    await run('ping', () => client.ping());
  };

  // To connect takes longer than to ask; after that, one that is away is found to be so at once.
  await Promise.race([client.connect().catch(() => undefined), sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  await check().catch(() => undefined);
  return {
    client,
    run,
    check,
    async close() {
      guard.close();
      client.disconnect();
    },
  };
}
