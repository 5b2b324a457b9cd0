import { firstErrorOf } from '../../db/support/errors.js';
import { printableError } from '../support/command.js';

/** The result of a check. The detail states what was found, or what to do. */
export type CheckResult = { result: 'ok' | 'warning' | 'failed'; detail: string };

const resultOf = (result: CheckResult['result']) => (detail: string) => ({ result, detail });

export const ok = resultOf('ok');
export const warning = resultOf('warning');
export const failed = resultOf('failed');

export type Check = readonly [name: string, run: () => CheckResult | Promise<CheckResult>];

/** A row of the printed table. */
export type CheckRow = { check: string } & CheckResult;

/** Names the processes whose connections are counted. */
export const countOf = (processes = 0) => (processes > 1 ? `${processes} processes` : 'each process');

/** Limits one call to a store. Longer than the service's own timeouts, for servers that have just started. */
export const CALL_TIMEOUT_MS = 10_000;

/** Runs checks in order, until one fails: the first check of a store tells whether it is available. */
export async function runChecks(...checks: readonly Check[]): Promise<CheckRow[]> {
  const rows: CheckRow[] = [];
  for (const [check, run] of checks) {
    const found = await Promise.resolve()
      .then(run)
      .catch((error) => failed(messageOf(error)));
    rows.push({ check, ...found });
    if (found.result === 'failed') break;
  }
  return rows;
}

/** Returns one line without secrets: the errors of stores name hosts and users, but no passwords. */
export function messageOf(error: unknown): string {
  const printable = printableError(firstErrorOf(error));
  return (printable instanceof Error ? printable.message : String(printable)).replace(/\s+/g, ' ').trim();
}
