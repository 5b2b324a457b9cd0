import { type Outcome, type Run, run, type Settings } from '../../scripts/contract-test/run.js';

/** Runs the contract tests against a service without printing anything. */
export function checkContract(url: string, settings: Partial<Settings> = {}): Promise<Run> {
  return run({
    baseUrl: new URL(url),
    seed: `${process.pid} ${performance.now()}`,
    timeoutMs: 30_000,
    selects: () => true,
    isKnown: () => false,
    slow: false,
    bail: false,
    onRulesChecked: async () => undefined,
    log: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    abortSignal: new AbortController().signal,
    ...settings,
  });
}

/** Returns a line for each failed rule. In a test report, whole exchanges would hide which rules failed, and why. */
export const failuresIn = (outcomes: readonly Outcome[]): string[] =>
  outcomes.flatMap(({ id, verdict, failure }) =>
    verdict === 'failed' ? [`${id}: expected ${failure?.expected}, got ${failure?.actual}`] : [],
  );
