import { BadArchiveError } from '../../db/backup/archive.js';
import { DataDirectoryNotEmptyError } from '../../db/backup/restore.js';
import { StoresDisagreeError } from '../../db/installation.js';
import { DatabaseNotOpenedError } from '../../db/postgres/embedded/server.js';
import { DiskFullError } from '../../db/postgres/free-space.js';
import { DataDirectoryInUseError, UnfinishedRestoreError } from '../../db/support/data-directory.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { ConfigError } from '../../handlers/config/index.js';
import { CommandError } from './command-error.js';

/** Runs the main function of a command. If it throws, prints the error and sets the exit code. */
export async function runCommand(main: () => Promise<void>, errorCode = 1): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(printableError(error));
    process.exitCode = errorCode;
  }
}

/** Errors whose message is enough for an operator to fix the problem. */
const EXPECTED_ERRORS = [
  BadArchiveError,
  ConfigError,
  DataDirectoryInUseError,
  DataDirectoryNotEmptyError,
  DatabaseNotOpenedError,
  DiskFullError,
  CommandError,
  StoresDisagreeError,
  UnfinishedRestoreError,
];

/** Returns the message of an expected error, and any other error unchanged, to be printed with its stack. */
export function printableError(error: unknown): unknown {
  if (EXPECTED_ERRORS.some((errorClass) => error instanceof errorClass)) return (error as Error).message;
  if (error instanceof StoreUnavailableError) {
    const { cause } = error;
    // A failed connection to a name with several addresses has no message of its own.
    const reason = cause instanceof AggregateError ? cause.errors[0] : cause;
    return reason instanceof Error ? `${error.message}: ${reason.message}` : error.message;
  }
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC') return `The disk is full: free some space and run the command again (${error.message})`;
  // System call errors name the address, port or path. ERR_PARSE_ARGS errors name the wrong option, and PostgreSQL's 42501
  // (insufficient privilege) the table or schema.
  const isExpected = 'syscall' in error || code.startsWith('ERR_PARSE_ARGS') || code === '42501';
  return isExpected ? error.message : error;
}
