import { openRedis } from '../../db/redis/index.js';
import { noopObserver } from '../../db/support/observer.js';
import type { Config } from '../../handlers/config/index.js';
import { silentLog } from '../support/silent-log.js';
import { CALL_TIMEOUT_MS, type CheckRow, ok, runChecks, warning } from './checks.js';

/** Checks Redis. Changes nothing. A start writes a key, so it sees a missing permission. */
export async function checkRedis(options: NonNullable<Config['redis']>): Promise<CheckRow[]> {
  const { run } = await openRedis({ ...options, timeoutMs: CALL_TIMEOUT_MS }, silentLog, noopObserver);

  async function checkServer() {
    const info = await run('info', (client) => client.info());
    const read = (field: string) => new RegExp(`^${field}:(\\S+)`, 'm').exec(info)?.[1] ?? 'unknown';
    const policy = read('maxmemory_policy');
    const description = `${read('redis_version')} at ${new URL(options.url).host}, maxmemory-policy ${policy}`;
    if (policy === 'noeviction' || read('maxmemory') === '0') return ok(description);
    return warning(`${description}: with full memory, counters are evicted, so limits start again; use noeviction`);
  }

  return runChecks(['Redis', checkServer]);
}
