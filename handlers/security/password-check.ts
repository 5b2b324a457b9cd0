import type { Credentials } from '../../db/accounts.js';
import type { AppContext } from '../context.js';
import type { Client } from '../operation.js';
import { logSecurityEvent } from './events.js';
import { subjectOf } from './failed-passwords.js';
import { DUMMY_HASH, type HashOptions, hashQueue, verifyPassword } from './password-hashing.js';

interface PasswordCheck {
  /** Undefined if no account has the email address. The check then takes as long as for a wrong password, and fails. */
  credentials: Credentials | undefined;
  /** The email address of a login. If it has no account, its failures are counted for the address. */
  email?: string;
  password: string;
  lane: HashOptions['lane'];
}

/**
 * Returns whether a password is correct. Counts a failure if it is not. Checks for the same account run one after another.
 *
 * @throws HttpError 429 after too many failures, even if this password is correct
 * @throws OverloadedError, ClientDisconnectedError
 */
export async function checkPassword(
  { failedPasswords }: Pick<AppContext, 'failedPasswords'>,
  client: Client,
  { credentials, email, password, lane }: PasswordCheck,
): Promise<boolean> {
  const subject = subjectOf(credentials, email);
  await failedPasswords.check(subject);
  return hashQueue.run({ lane, key: subject, signal: client.signal }, async () => {
    // Checked again, because other checks for the account may have failed while this one was waiting.
    failedPasswords.recheck(subject);
    if (await verifyPassword(credentials?.passwordHash ?? DUMMY_HASH, password)) return true;
    const details = { accountId: credentials?.id, address: client.address };
    logSecurityEvent(client.log, lane === 'unauthenticated' ? 'login_failed' : 'password_rejected', details);
    if (await failedPasswords.record(subject))
      logSecurityEvent(client.log, 'throttled', { ...details, reason: 'failed_passwords' });
    return false;
  });
}
