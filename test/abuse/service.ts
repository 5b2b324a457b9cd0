import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from '../support/lifetime.js';
import { addressesIn, script } from '../support/processes.js';
import { claimGraphFor, temporaryDirectory } from '../support/stores.js';

/** A service under attack, in a separate process that logs to a file. */
export interface AbusedService {
  url: string;
  opsUrl: string;
  pid: number;
  logPath: string;
  logBytes(): Promise<number>;
  /** Returns whether the process is running. */
  alive(): boolean;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  nodeArguments?: readonly string[];
  /** The limit of open files, soft and hard. */
  openFilesMax?: number;
}

const START_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 25;

const running = new Set<ChildProcess>();

/** Kills the process groups of services, spawned with `detached`, when this process exits. */
process.once('exit', () => {
  for (const { pid } of running) {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

/** Starts the service like `npm start` and waits until it listens. */
export async function startAbusedService(
  lifetime: Lifetime,
  environment: NodeJS.ProcessEnv,
  { nodeArguments = [], openFilesMax }: StartOptions = {},
): Promise<AbusedService> {
  await claimGraphFor(environment);
  const logPath = join(await temporaryDirectory(lifetime), 'log');
  const output = openSync(logPath, 'w');
  const node = [process.execPath, '--max-semi-space-size=64', ...nodeArguments, script('start')];
  // Node.js cannot set resource limits, a shell can.
  const command =
    openFilesMax === undefined ? node : ['sh', '-c', `ulimit -n ${openFilesMax}; exec "$@"`, 'sh', ...node];
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'trace', PORT: '0', OPS_PORT: '0', ...environment },
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  running.add(child);
  child.once('close', () => running.delete(child));
  const closed = once(child, 'close');
  const alive = () => child.exitCode === null && child.signalCode === null;
  const stop = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (alive()) child.kill(signal);
    await closed;
    return child.exitCode;
  };
  lifetime.teardown(() => stop());

  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
    const log = await readFile(logPath, 'utf8');
    const addresses = addressesIn(log);
    if (addresses) {
      const logBytes = async () => (await stat(logPath)).size;
      return { ...addresses, pid: child.pid ?? 0, logPath, logBytes, alive, stop };
    }
    if (!alive() || Date.now() > deadline) throw new Error(`The service did not start:\n${log}`);
  }
}
