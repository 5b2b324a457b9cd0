import { purgeExpiredKeys } from '../idempotency-keys.js';
import type { Database } from '../postgres/index.js';
import { purgeExpiredSessions } from '../sessions.js';
import type { Log } from '../support/log.js';
import { startPeriodic } from '../support/periodic.js';

const INTERVAL_MS = 10 * 60 * 1000;

/** Starts to delete expired sessions and idempotency keys in the background: immediately, and then once per interval. */
export const startPurging = (db: Database, log: Log, { intervalMs = INTERVAL_MS }: { intervalMs?: number } = {}) =>
  startPeriodic(intervalMs, async () => {
    await purgeExpiredSessions(db).catch((error) => log.warn({ err: error }, 'failed to purge expired sessions'));
    await purgeExpiredKeys(db).catch((error) => log.warn({ err: error }, 'failed to purge expired idempotency keys'));
  });
