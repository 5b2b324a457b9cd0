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

/** A command, by the name of its source below `scripts`. */
export const script = (name: string) => `.build/scripts/${name}.js`;

/** Node with these arguments and no other variables, whatever becomes of it. It is killed when the test ends. */
export function spawnNode(t: Test, args: readonly string[], environment: NodeJS.ProcessEnv) {
  // A process that lives for seconds gains nothing from WebAssembly that is compiled a second time, to run faster.
  const child = spawn(process.execPath, ['--liftoff-only', ...args], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...environment },
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

/** The service, from the moment it is started. `nodeArguments` come before the script. */
export function spawnService(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments: readonly string[] = [],
  entry = script('start'),
) {
  return spawnNode(t, [...nodeArguments, entry], { PORT: '0', OPS_PORT: '0', ...environment });
}

/** Runs one of the commands to its end, or kills it as soon as what it has said is enough. */
export async function runCommand(
  t: Test,
  [name, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  enough: (output: string) => boolean = () => false,
) {
  const { child, output } = spawnNode(t, [script(name), ...args], environment);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', () => enough(output()) && child.kill('SIGKILL'));
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, output: output() };
}

/** Starts the service as `npm start` does, in a process of its own, and waits until it listens. */
export async function startProcess(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments?: readonly string[],
  entry?: string,
): Promise<ServiceProcess> {
  await lendGraph(environment);
  const limits = { RATE_LIMIT_MAX: '1000000', RATE_LIMIT_STRICT_MAX: '1000000' };
  return listening(spawnService(t, { ...limits, ...environment }, nodeArguments, entry));
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
