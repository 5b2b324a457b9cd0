import { execFile, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pidusage from 'pidusage';
import { CommandError } from '../support/command-error.js';

/** A server under test, in its own process. */
export interface Server {
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

/** Starts a server that logs to a file, and waits until the log contains the URL of its API. */
export async function startServer(args: string[], variables: NodeJS.ProcessEnv, logPath: string): Promise<Server> {
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

/** Starts the built service of a checkout, on free ports and with rate limits that the load never reaches. */
export function startService(checkout: string, environment: NodeJS.ProcessEnv, logPath: string): Promise<Server> {
  const addresses = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0' };
  const limits = { RATE_LIMIT_MAX: '1000000000', RATE_LIMIT_STRICT_MAX: '1000000000' };
  return startServer([join(checkout, '.build/scripts/start.js')], { ...environment, ...addresses, ...limits }, logPath);
}

/** Runs a script and returns what it prints. */
export async function runScript(args: readonly string[], variables: NodeJS.ProcessEnv, input = ''): Promise<string> {
  const { child, ended } = spawnNode(args, variables, ['pipe', 'pipe', 'inherit']);
  child.stdin?.end(input);
  const output = child.stdout ? await text(child.stdout) : '';
  const code = await ended;
  if (code !== 0) throw new CommandError(`${args[0]} ended with ${code}`);
  return output;
}

/** CPU times since the start of a process, in milliseconds by process id. */
type CpuTimes = ReadonlyMap<number, number>;

/** Returns the CPU times of a process and its descendants. */
export async function cpuTimesOf(pid: number): Promise<CpuTimes> {
  // Without `ps`, as in some containers, only the process itself counts.
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' }));
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const tree = new Set([pid]);
  for (let size = 0; size < tree.size; ) {
    size = tree.size;
    for (const [child = 0, parent = 0] of pairs) if (tree.has(parent)) tree.add(child);
  }
  // A process may exit before its usage is read. If all have exited, `pidusage` throws.
  const usages: Record<string, pidusage.Status | null | undefined> = await pidusage([...tree]).catch(() => ({}));
  return new Map(Object.values(usages).flatMap((usage) => (usage ? [[usage.pid, usage.ctime]] : [])));
}

/**
 * Returns the CPU time between two samples. Returns undefined if a process has exited in between, as when PostgreSQL
 * closes a connection: the CPU time that it used is then unknown.
 */
export function cpuMsBetween(before: CpuTimes, after: CpuTimes): number | undefined {
  if (before.size === 0 || [...before.keys()].some((pid) => !after.has(pid))) return undefined;
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}
