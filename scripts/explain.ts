import { BadArchiveError } from '../db/backup/archive.js';
import { DataDirectoryNotEmptyError } from '../db/backup/restore.js';
import { StoresDisagreeError } from '../db/installation.js';
import { DatabaseNotOpenedError } from '../db/postgres/embedded/server.js';
import { DiskFullError } from '../db/postgres/free-space.js';
import { DataDirectoryInUseError, UnfinishedRestoreError } from '../db/support/data-directory.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { ConfigError } from '../handlers/config/index.js';
import { PlainError } from './plain-error.js';

const FOR_OPERATORS = [
  BadArchiveError,
  ConfigError,
  DataDirectoryInUseError,
  DataDirectoryNotEmptyError,
  DatabaseNotOpenedError,
  DiskFullError,
  PlainError,
  StoresDisagreeError,
  UnfinishedRestoreError,
];

/** What an operator can mend is said in one line; all else is a fault, and keeps its stack. */
export function explain(error: unknown): unknown {
  if (FOR_OPERATORS.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof StoreUnavailableError) {
    return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  }
  if (!(error instanceof Error)) return error;
  // The operating system has refused an address, a port or a directory, and names it; or the command's options are wrong.
  const isPlain = 'syscall' in error || ('code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  return isPlain ? error.message : error;
}
