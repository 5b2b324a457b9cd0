import type { Log } from '../../db/support/log.js';

/** Events that operators monitor. `.github/OPERATING.md` describes when each of them is logged. */
type SecurityEvent =
  | 'login_succeeded'
  | 'login_failed'
  | 'password_rejected'
  | 'password_changed'
  | 'email_changed'
  | 'username_changed'
  | 'session_ended'
  | 'account_created'
  | 'account_deleted'
  | 'account_disabled'
  | 'account_enabled'
  | 'account_exported'
  | 'picture_removed'
  | 'post_deleted'
  | 'throttled';

interface SecurityEventDetails {
  /** Undefined if the event belongs to no account, for example a login with an unknown email address. */
  accountId?: number | undefined;
  postId?: number | undefined;
  /** The client's IP address. Undefined for an action of the operator. */
  address?: string;
  /** The action of the operator, as in `npm run admin -- accounts disable`. */
  command?: string;
  /** The email address or username before it was changed, by which the owner of a stolen account can be found. */
  previousEmail?: string | undefined;
  previousUsername?: string;
  /** Why a session ended, or which limit was reached. */
  reason?: 'logout' | 'deleted' | 'others_deleted' | 'session_limit' | 'failed_passwords' | 'rate_limit' | undefined;
}

const counts = new Map<SecurityEvent, number>();

/** Returns how often each event has been logged since the process started. */
export const securityEventCounts = (): ReadonlyMap<SecurityEvent, number> => counts;

/**
 * Counts a security event, and logs it as one line at level `info`. Logs only the listed details, so that other properties,
 * such as a password or a token, do not get into the log.
 */
export function logSecurityEvent(
  log: Pick<Log, 'info'>,
  event: SecurityEvent,
  { accountId, postId, address, command, previousEmail, previousUsername, reason }: SecurityEventDetails,
): void {
  counts.set(event, (counts.get(event) ?? 0) + 1);
  const details = { accountId, postId, address, command, previousEmail, previousUsername, reason };
  log.info({ event, ...details }, 'security event');
}
