import type { SocialGraph } from '../../db/graph/index.js';
import type { ImageStore } from '../../db/images/index.js';
import { type ClaimedStore, type Installation, requireClaimedBy } from '../../db/installation.js';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { Log } from '../../db/support/log.js';
import { withTimeout } from '../../db/support/timeout.js';
import { printableError } from '../support/command.js';

/** The detail states what was found, what to do, or why nothing was checked. */
export type CheckResult = { result: 'ok' | 'warning' | 'failed' | 'skipped'; detail: string };

const resultOf = (result: CheckResult['result']) => (detail: string) => ({ result, detail });

export const ok = resultOf('ok');
export const warning = resultOf('warning');
export const failed = resultOf('failed');
export const skipped = resultOf('skipped');

export type Check = readonly [name: string, run: () => CheckResult | Promise<CheckResult>];

/** A row of the printed table. */
export type Row = { check: string } & CheckResult;

/** Limits all checks of one store together. */
const STORE_TIMEOUT_MS = 30_000;

/** Limits one call to a store. Longer than the service's own timeouts, for servers that have just started. */
export const CALL_TIMEOUT_MS = 10_000;

/** A smaller difference between clocks is common and harmless. */
const MAX_SKEW_MS = 2000;

export const silentLog: Log = { info: () => undefined, warn: () => undefined };

/**
 * Runs the checks of a store in order. An error is a failed check. The first check tells whether the store is available: if it
 * fails, the others are skipped.
 */
export async function runChecks(checks: readonly Check[], close = async () => {}): Promise<Row[]> {
  const deadline = performance.now() + STORE_TIMEOUT_MS;
  const rows: Row[] = [];
  for (const [check, run] of checks) {
    const remainingMs = Math.ceil(deadline - performance.now());
    const isUnavailable = remainingMs <= 0 || rows[0]?.result === 'failed';
    rows.push({ check, ...(isUnavailable ? skipped('not available') : await runCheck(run, remainingMs)) });
  }
  await withTimeout(STORE_TIMEOUT_MS, close()).catch(() => undefined);
  return rows;
}

async function runCheck(run: Check[1], timeoutMs: number): Promise<CheckResult> {
  try {
    return await withTimeout(timeoutMs, (async () => run())());
  } catch (error) {
    return failed(messageOf(error));
  }
}

/** Returns one line without secrets: the errors of stores name hosts and users, but no passwords. */
export function messageOf(error: unknown): string {
  if (error instanceof StoreUnavailableError && error.cause === undefined)
    return `${error.message}: no response in time`;
  const printable = printableError(error);
  const text = printable instanceof Error ? printable.message || printable.name : String(printable);
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns what a call returns, and its duration as text, such as "12 ms". */
export async function timedCall<Result>(call: () => Promise<Result>): Promise<{ result: Result; duration: string }> {
  const startedAt = performance.now();
  const result = await call();
  return { result, duration: `${Math.round(performance.now() - startedAt)} ms` };
}

/**
 * Compares a store's clock with this machine's.
 *
 * @param readClock returns the store's time in Unix milliseconds, or NaN if the store does not report it
 * @param resolutionMs the resolution of the store's time
 */
export async function compareClock(readClock: () => Promise<number>, resolutionMs = 1): Promise<CheckResult> {
  const before = Date.now();
  const time = await readClock();
  const after = Date.now();
  if (Number.isNaN(time)) return skipped('the store does not report its time');
  const skewMs = time + resolutionMs / 2 - (before + after) / 2;
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  // The store read its clock at an unknown time between `before` and `after`.
  const uncertaintyMs = (after - before + resolutionMs) / 2;
  const isWithinLimit = Math.abs(skewMs) - uncertaintyMs <= MAX_SKEW_MS;
  if (isWithinLimit) return ok(`within ${Math.max(0.1, Number(seconds))} s of this machine`);
  return warning(
    `${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine: creation and expiry times are wrong; synchronize both clocks (NTP)`,
  );
}

/** Checks that a store belongs to this installation, or that the first start may claim it. */
export async function checkClaim(
  installation: Installation | undefined,
  storeName: ClaimedStore,
  store: Pick<SocialGraph | ImageStore, 'kind' | 'claimedBy'>,
): Promise<CheckResult> {
  if (!installation) return skipped('the installation in PostgreSQL is not known');
  const claimedBy = await store.claimedBy();
  if (claimedBy === undefined && installation[storeName] === null) return ok('new: the first start claims it');
  requireClaimedBy(installation, storeName, store.kind, claimedBy);
  return ok('belongs to this PostgreSQL');
}
