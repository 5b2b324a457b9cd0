import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { lendGraph } from './stores.js';

export interface ServiceProcess {
  child: ChildProcess;
  url: string;
  opsUrl: string;
  /** Everything printed so far. */
  output(): string;
  /** Sends a signal and answers the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

const ENTRY = '.build/scripts/start.js';

/** The process alone, whatever becomes of it. It is killed when the test ends. `nodeArguments` come before the script. */
export function spawnService(t: Test, environment: NodeJS.ProcessEnv, nodeArguments: readonly string[] = []) {
  const child = spawn(process.execPath, [...nodeArguments, ENTRY], {
    env: { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: () => output };
}

/** Starts the service as `npm start` does, in a process of its own, and waits until it listens. */
export async function startProcess(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments?: readonly string[],
): Promise<ServiceProcess> {
  await lendGraph(environment);
  const limits = { RATE_LIMIT_MAX: '1000000', RATE_LIMIT_STRICT_MAX: '1000000' };
  return listening(spawnService(t, { ...limits, ...environment }, nodeArguments));
}

/** A process that has been spawned, once it listens. */
export async function listening({ child, output }: ReturnType<typeof spawnService>): Promise<ServiceProcess> {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => /Data +\S+\n/.test(output()) && resolve());
    child.once('exit', () => reject(new Error(`the service did not start:\n${output()}`)));
  });
  const find = (pattern: RegExp) => pattern.exec(output())?.[1] ?? '';
  return {
    child,
    output,
    url: find(/API +(\S+)/),
    opsUrl: find(/Operations +(\S+)\/readyz/),
    async end(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      const [code, endedBy] = await exited;
      return code ?? endedBy;
    },
  };
}

/** Starts the service where it should refuse to, and answers its exit code and what it said. */
export async function startAndFail(t: Test, environment: NodeJS.ProcessEnv) {
  const { child, output } = spawnService(t, environment);
  const [code] = await once(child, 'close');
  return { code, output: output() };
}
