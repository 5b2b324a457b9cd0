import { once } from 'node:events';
import type { Test } from 'tap';
import { script, spawnNode } from './processes.js';

/** Runs `npm run doctor`. Returns its exit code, its output, and its rows by check. */
export async function runDoctor(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments: readonly string[] = [],
  processes?: number,
) {
  const options = processes === undefined ? [] : ['--processes', String(processes)];

  const { child, output } = spawnNode(t, [...nodeArguments, script('doctor/index'), ...options], {
    OPS_PORT: '0',
    ...environment,
  });
  const [code] = await once(child, 'close');
  const lines = [...output().matchAll(/^(\S.*?) {2,}(ok|warning|failed) +(.*)$/gm)];
  const rows: Record<string, { result: string; detail: string }> = {};
  for (const [, check = '', result = '', detail = ''] of lines) rows[check] = { result, detail };
  return { code, output: output(), rows };
}

/** Returns a pattern for a row of `runDoctor`. */
export const row = (result: string, detail: RegExp) => ({ result, detail });

export type Rows = Record<string, { result: string; detail?: string | RegExp }>;

/** Runs the command. Expects these rows, and the exit code 1 if one of them has failed, or else 0. Returns the output. */
export async function expectRows(
  t: Test,
  environment: NodeJS.ProcessEnv,
  rows: Rows,
  nodeArguments: readonly string[] = [],
  processes?: number,
): Promise<string> {
  const found = await runDoctor(t, environment, nodeArguments, processes);
  const code = Object.values(rows).some(({ result }) => result === 'failed') ? 1 : 0;
  t.match(found, { code, rows }, found.output);
  return found.output;
}
