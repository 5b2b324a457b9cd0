import { type Config, urlOf } from '../../handlers/config/index.js';
import type { StoreStates } from '../../handlers/http/ops.js';
import { type Check, type CheckResult, failed, messageOf, ok, skipped, timedCall } from './checks.js';

/** Longer than the service takes to check its stores. */
const TIMEOUT_MS = 5000;

const WILDCARDS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the checks of a running service. They are skipped if none is running. */
export function serviceChecks({ opsHost, opsPort }: Config): Check[] {
  const url = urlOf(WILDCARDS[opsHost] ?? opsHost, opsPort);
  return [
    ['/livez', () => checkEndpoint(`${url}/livez`)],
    ['/readyz', () => checkEndpoint(`${url}/readyz`)],
  ];
}

async function checkEndpoint(url: string): Promise<CheckResult> {
  if (new URL(url).port === '0') return skipped('OPS_PORT is 0: the port is not known');
  try {
    const { result, duration } = await timedCall(() => fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
    const { status, stores } = (await result.json()) as { status?: string; stores?: StoreStates };
    const unavailable = Object.entries(stores ?? {}).filter(([, { ok: isAvailable }]) => !isAvailable);
    const description = `${url}: ${status}, ${duration}`;
    if (result.ok && unavailable.length === 0) return ok(description);
    return failed(`${description}; unavailable: ${unavailable.map(([name]) => name).join(', ') || 'none'}`);
  } catch (error) {
    const { cause } = error as Error;
    const isClosed = (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
    return isClosed ? skipped(`${url}: no service is running`) : failed(`${url}: ${messageOf(cause ?? error)}`);
  }
}
