import type { Logger } from 'pino';
import type { Account } from '../db/accounts.js';
import type { Stores } from '../db/stores/index.js';
import type { Config } from './config/index.js';
import type { Metrics } from './metrics/index.js';
import type { FailedPasswords } from './security/failed-passwords.js';
import type { Tokens } from './security/tokens.js';

/** What handlers use besides the request: stores, configuration, tokens and metrics. */
export interface AppContext
  extends Pick<
    Stores,
    'db' | 'graphTransactions' | 'graph' | 'images' | 'outbox' | 'read' | 'write' | 'feed' | 'embedded'
  > {
  config: Config;
  tokens: Tokens;
  failedPasswords: FailedPasswords;
  /** The directory for temporary files of uploads in progress. */
  uploadsDir: string;
  log: Logger;
  metrics: Pick<Metrics, 'storageQuotaExceeded'>;
}

/** The account and session of an authenticated request. Both are read from the database for each request. */
export interface AuthenticatedUser {
  account: Account;
  sessionId: string;
}
