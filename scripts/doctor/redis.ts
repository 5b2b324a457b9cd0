import { openRedis } from '../../db/redis.js';
import { noopObserver } from '../../db/support/observer.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import { createWindowCounters } from '../../db/window-counters.js';
import type { Config } from '../../handlers/config/index.js';
import {
  CALL_TIMEOUT_MS,
  type CheckResult,
  compareClock,
  ok,
  type Row,
  runChecks,
  silentLog,
  timedCall,
} from './checks.js';

const PROBE_TTL_MS = 1000;

/** Checks Redis. Probes the counters with a key that expires by itself. */
export async function checkRedis(options: NonNullable<Config['redis']>): Promise<Row[]> {
  const redis = await openRedis({ ...options, timeoutMs: CALL_TIMEOUT_MS }, silentLog, noopObserver);
  const { client, run, close } = redis;
  const { host, protocol } = new URL(options.url);
  /** The first error. It is more specific than later ones of the same connection. */
  let connectionError: Error | undefined;
  client.on('error', (error) => {
    connectionError ??= error;
  });

  async function checkServer(): Promise<CheckResult> {
    let info = '';
    // The client reconnects in the background.
    await retryUntilAvailable(async () => {
      info = await run('info', () => client.info('server'));
    }).catch((error) => {
      throw connectionError ?? error;
    });
    const { duration } = await timedCall(() => run('ping', () => client.ping()));
    const [, version = 'unknown version'] = /^redis_version:(\S+)/m.exec(info) ?? [];
    return ok(`${version} at ${host}, ${protocol === 'rediss:' ? 'TLS' : 'no TLS'}, ${duration}`);
  }

  async function readClock(): Promise<number> {
    const [seconds = 0, microseconds = 0] = (await run('time', () => client.time())).map(Number);
    return seconds * 1000 + microseconds / 1000;
  }

  async function checkPermissions(): Promise<CheckResult> {
    await createWindowCounters(redis).increment(`doctor:${process.pid}`, PROBE_TTL_MS);
    return ok('count (probe key expires by itself)');
  }

  return runChecks(
    [
      ['Redis', checkServer],
      ['Redis clock', () => compareClock(readClock)],
      ['Redis permissions', checkPermissions],
    ],
    close,
  );
}
