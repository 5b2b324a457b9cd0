import { setTimeout as sleep } from 'node:timers/promises';
import { purgeExpiredKeys } from './idempotency-keys.js';
import type { Database } from './postgres/index.js';
import { purgeExpiredSessions } from './sessions.js';
import type { Log } from './support/log.js';

const INTERVAL_MS = 10 * 60 * 1000;

/** Starts to delete expired sessions and idempotency keys in the background: immediately, and then once per interval. */
export function startPurging(
  db: Database,
  log: Log,
  { intervalMs = INTERVAL_MS }: { intervalMs?: number } = {},
): { stop(): Promise<void> } {
  const stopped = new AbortController();

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await purgeExpiredSessions(db).catch((error) => log.warn({ err: error }, 'failed to purge expired sessions'));
      await purgeExpiredKeys(db).catch((error) => log.warn({ err: error }, 'failed to purge expired idempotency keys'));
      await sleep(intervalMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
