import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../support/command-error.js';

/** A server under test, in its own process. */
export interface BenchServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** The directory of this checkout. */
export const CHECKOUT = join(import.meta.dirname, '../../..');

const START_TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 50;

/** When aborted, kills all child processes, so that the run fails and its `finally` blocks remove temporary data. */
export const interruption = new AbortController();

/** Starts Node with the flags of this process, which are those of `npm start`, so that all servers run with the same flags. */
function spawnNode(args: readonly string[], variables: NodeJS.ProcessEnv, stdio: StdioOptions) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...variables };
  const { signal } = interruption;
  const child = spawn(process.execPath, [...process.execArgv, ...args], { env, stdio, signal, killSignal: 'SIGKILL' });
  // An interruption also emits `error`, which would throw without a listener. Callers wait for the end instead.
  child.on('error', () => undefined);
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  return { child, ended };
}

/** Runs a script and returns what it prints. */
export async function runScript(args: readonly string[], variables: NodeJS.ProcessEnv): Promise<string> {
  const { child, ended } = spawnNode(args, variables, ['ignore', 'pipe', 'inherit']);
  const output = child.stdout ? await text(child.stdout) : '';
  const code = await ended;
  if (code !== 0) throw new CommandError(`${args[0]} ended with ${code}`);
  return output;
}

/** Starts a server that logs to a file, and waits until the log contains the URL of its API. */
export async function startServer(args: string[], variables: NodeJS.ProcessEnv, logPath: string): Promise<BenchServer> {
  const log = openSync(logPath, 'w');
  const { child, ended } = spawnNode(args, variables, ['ignore', log, log]);
  closeSync(log);
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
    const output = await readFile(logPath, 'utf8');
    const [, url] = /^ +API +(\S+)$/m.exec(output) ?? [];
    if (url !== undefined) {
      const stop = async () => void (child.kill('SIGTERM') && (await ended));
      return { url, pid: child.pid ?? 0, stop };
    }
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new CommandError(`${args.join(' ')} did not start:\n${output}`);
    }
  }
}

/** Starts the built service of a checkout, on free ports and with limits that the load never reaches. */
export function startService(checkout: string, environment: NodeJS.ProcessEnv, logPath: string): Promise<BenchServer> {
  const addresses = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0' };
  const [RATE_LIMIT_MAX, RATE_LIMIT_STRICT_MAX, ACCOUNT_STORAGE_MAX_BYTES] = Array(3).fill('1000000000000');
  const limits = { RATE_LIMIT_MAX, RATE_LIMIT_STRICT_MAX, ACCOUNT_STORAGE_MAX_BYTES };
  const variables = { LOG_FORMAT: 'text', ...environment, ...addresses, ...limits };
  return startServer([join(checkout, '.build/scripts/start.js')], variables, logPath);
}
