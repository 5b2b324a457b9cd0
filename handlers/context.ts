import type { Logger } from 'pino';
import type { Account } from '../db/accounts.js';
import type { Stores } from '../db/stores.js';
import type { Config } from './config/index.js';
import type { Metrics } from './http/metrics.js';
import type { FailedPasswords } from './security/failed-passwords.js';
import type { Tokens } from './security/tokens.js';

/** All that a handler may use besides its request. */
export interface AppContext
  extends Pick<
    Stores,
    | 'db'
    | 'graphTransactions'
    | 'statementTimeoutMs'
    | 'graph'
    | 'images'
    | 'outbox'
    | 'read'
    | 'write'
    | 'deepPages'
    | 'largePages'
    | 'embedded'
  > {
  config: Config;
  tokens: Tokens;
  failedPasswords: FailedPasswords;
  /** Where clients reach the service. */
  publicUrl: URL;
  /** Where files under way are spooled. */
  uploadsDir: string;
  log: Logger;
  metrics: Pick<Metrics, 'quotaExceeded'>;
}

/** Whose request it is, as read for this very request. */
export interface AuthenticatedUser {
  account: Account;
  sessionId: string;
}
