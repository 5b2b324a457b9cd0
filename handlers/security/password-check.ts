import type { Credentials } from '../../db/accounts.js';
import type { AppContext } from '../context.js';
import type { Client } from '../operation.js';
import { logSecurityEvent } from './events.js';
import { subjectOf } from './failed-passwords.js';
import type { Turn } from './hash-queue.js';
import { DUMMY_HASH, verifyPassword } from './password-hashing.js';

interface Check {
  /** Undefined when no account has the email address: the check then fails, in the same way and time as any other. */
  secret: Credentials | undefined;
  email?: string;
  password: string;
  lane: Turn['lane'];
}

/**
 * Checks a password, one at a time for each account, and counts it if it fails.
 *
 * @throws HttpError 429 when too many have failed, whether or not this one is right; 503 when too many checks are waiting
 */
export async function checkPassword(
  { failedPasswords }: Pick<AppContext, 'failedPasswords'>,
  client: Client,
  { secret, email, password, lane }: Check,
): Promise<boolean> {
  const subject = subjectOf(secret, email);
  await failedPasswords.check(subject);
  return verifyPassword(secret?.passwordHash ?? DUMMY_HASH, password, {
    lane,
    key: subject,
    signal: client.signal,
    // Checks of the same account that waited in the queue may have failed meanwhile.
    before: () => failedPasswords.recheck(subject),
    async after(matches) {
      if (matches) return;
      const details = { accountId: secret?.id, address: client.address };
      logSecurityEvent(client.log, lane === 'login' ? 'login_failed' : 'password_rejected', details);
      if (await failedPasswords.record(subject))
        logSecurityEvent(client.log, 'throttled', { ...details, reason: 'failed_passwords' });
    },
  });
}
