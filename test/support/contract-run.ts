import { type RuleResult, type RunResult, type RunSettings, run } from '../../scripts/contract-test/run.js';

/** Runs the contract tests against a service without printing anything. */
export function checkContract(url: string, settings: Partial<RunSettings> = {}): Promise<RunResult> {
  return run({
    baseUrl: new URL(url),
    selects: ({ slow }) => !slow,
    log: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...settings,
  });
}

/** Returns a line for each failed rule. In a test report, whole exchanges would hide which rules failed, and why. */
export const failuresIn = (results: readonly RuleResult[]): string[] =>
  results.flatMap(({ id, verdict, failure }) =>
    verdict === 'failed' ? [`${id}: expected ${failure?.expected}, got ${failure?.actual}`] : [],
  );
