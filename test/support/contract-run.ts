import { type Run, run, type Settings } from '../../scripts/contract-test/run.js';

/** Checks the contract on a service as the command does, without printing anything. */
export function checkContract(url: string, settings: Partial<Settings> = {}): Promise<Run> {
  return run({
    baseUrl: new URL(url),
    seed: `${process.pid} ${performance.now()}`,
    timeout: 30_000,
    selects: () => true,
    isKnown: () => false,
    slow: false,
    bail: false,
    checked: async () => undefined,
    say: () => undefined,
    progress: () => undefined,
    signal: new AbortController().signal,
    hurry: new AbortController().signal,
    ...settings,
  });
}
