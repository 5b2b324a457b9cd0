import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { collectOutput } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';

/** Starts a program, which is killed when the test ends. Waits until its log matches all patterns. Returns a function that returns the log. */
export async function startProgram(
  t: Test,
  program: string,
  args: readonly string[],
  patterns: readonly RegExp[],
  env?: NodeJS.ProcessEnv,
): Promise<() => string> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const log = collectOutput(child);
  const closed = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', () => patterns.every((pattern) => pattern.test(log())) && resolve());
    closed.then(() => reject(new Error(`${program} did not start:\n${log()}`)), reject);
  });
  return log;
}

/** Starts a program of the Prometheus project on a free port, waits until it listens, and returns its URL. */
export async function startOnFreePort(t: Test, program: string, args: readonly string[]): Promise<string> {
  const pattern = /"Listening on" address=(\S+)/;
  const log = await startProgram(t, program, [...args, '--web.listen-address=127.0.0.1:0'], [pattern]);
  return `http://${pattern.exec(log())?.[1]}`;
}

/** A series in the result of a query: the Unix time in seconds, and the value as text. */
interface Series {
  value: [number, string];
}

/**
 * Starts Prometheus, which scrapes an operations server every second. Returns a function that returns the result of a query,
 * or throws if Prometheus rejects the query.
 */
export async function startPrometheus(t: Test, opsUrl: string) {
  const directory = await temporaryDirectory(t);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [{ job_name: 'social-posting', static_configs: [{ targets: [new URL(opsUrl).host] }] }],
  };
  const path = join(directory, 'prometheus.json');
  await writeFile(path, JSON.stringify(config));
  const args = [`--config.file=${path}`, `--storage.tsdb.path=${join(directory, 'data')}`];
  const url = await startOnFreePort(t, 'prometheus', args);
  // Prometheus listens before it is ready to serve queries.
  await until(async () => (await fetch(`${url}/-/ready`)).ok);
  return async (expr: string): Promise<Series[]> => {
    const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`);
    const { error, data } = (await response.json()) as { error?: string; data?: { result: Series[] } };
    if (!data) throw new Error(`${error}: ${expr}`);
    return data.result;
  };
}
