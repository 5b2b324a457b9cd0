import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { claimGraphFor } from './stores.js';

interface Addresses {
  url: string;
  opsUrl: string;
}

export interface ServiceProcess extends Addresses {
  child: ChildProcess;
  output(): string;
  /** Sends a signal, and returns the exit code or the signal that ended the process. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** Rate limits that no test reaches by chance. */
export const HIGH_RATE_LIMITS = { RATE_LIMIT_MAX: '1000000', RATE_LIMIT_STRICT_MAX: '1000000' };

/** Returns whether a process has neither exited nor been killed. */
export const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

/** Matches an output of exactly one line. */
export const ONE_LINE = /^[^\n]+\n$/;

/** The exit code of a command if another process uses its data directory or port. */
export const IN_USE = 3;

/** Returns the built path of a command, by the name of its source below `scripts`. */
export const script = (name: string) => `.build/scripts/${name}.js`;

/** Starts Node with these variables, PATH and LOG_LEVEL only. The process is killed when the test ends. */
export function spawnNode(t: Test, args: readonly string[], environment: NodeJS.ProcessEnv) {
  // Optimizing WebAssembly does not pay off in a process that runs for seconds.
  const child = spawn(process.execPath, ['--liftoff-only', ...args], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: collectOutput(child) };
}

/** Starts the service, which logs text, without waiting for it to listen. `nodeArguments` come before the script. */
export function spawnService(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments: readonly string[] = [],
  entry = script('start'),
) {
  return spawnNode(t, [...nodeArguments, entry], { PORT: '0', OPS_PORT: '0', LOG_FORMAT: 'text', ...environment });
}

/** Runs a command to its end. Returns its output, and its exit code or the signal that ended it. */
export async function runCommand(
  t: Test,
  [name, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
) {
  // As in package.json: otherwise Node itself would read `--env-file`.
  const { child, output } = spawnNode(t, ['--', script(name), ...args], environment);
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, output: output() };
}

/** Starts the service in a separate process, with high rate limits, and waits until it listens. */
export async function startProcess(
  t: Test,
  environment: NodeJS.ProcessEnv,
  nodeArguments?: readonly string[],
  entry?: string,
): Promise<ServiceProcess> {
  await claimGraphFor(environment);
  return untilListening(spawnService(t, { ...HIGH_RATE_LIMITS, ...environment }, nodeArguments, entry));
}

/** Returns the addresses that the service prints or logs once it listens, or undefined before. */
export function addressesIn(output: string): Addresses | undefined {
  const [, url, opsUrl] = /"url":"([^"]+)","opsUrl":"([^"]+)".*"msg":"started"/.exec(output) ?? [];
  if (url && opsUrl) return { url, opsUrl };
  if (!/^ +Data +\S+\n/m.test(output)) return undefined;
  const find = (pattern: RegExp) => pattern.exec(output)?.[1] ?? '';
  return { url: find(/^ +API +(\S+)$/m), opsUrl: find(/^ +Operations +(\S+)\/readyz$/m) };
}

/** Waits until a spawned service listens. Throws if it exits first. */
export async function untilListening({ child, output }: ReturnType<typeof spawnService>): Promise<ServiceProcess> {
  const addresses = await new Promise<Addresses>((resolve, reject) => {
    child.stdout.on('data', () => {
      const found = addressesIn(output());
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the service did not start:\n${output()}`)));
  });
  return {
    ...addresses,
    child,
    output,
    async end(signal) {
      const exited = once(child, 'exit');
      child.kill(signal);
      const [code, endedBy] = await exited;
      return code ?? endedBy;
    },
  };
}

/** Starts a service that is expected to exit by itself. Returns its exit code and output. */
export const startAndFail = (t: Test, environment: NodeJS.ProcessEnv) =>
  runCommand(t, ['start'], { PORT: '0', OPS_PORT: '0', ...environment });

/** Starts a service, and expects it to exit with one line that matches the pattern. Returns the line. */
export async function expectRefusedStart(
  t: Test,
  environment: NodeJS.ProcessEnv,
  pattern: RegExp | string = ONE_LINE,
  expectedCode = 1,
): Promise<string> {
  const { code, output } = await startAndFail(t, environment);
  t.equal(code, expectedCode);
  t.match(output, ONE_LINE);
  t.match(output, pattern);
  return output;
}

/** Collects the output of a process. Returns a function that returns everything printed so far. */
export function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  return () => output;
}

/** Test options that skip a test if a program is not installed. The message names its Debian package. */
export const needsProgram = (program: string, debianPackage = program) => ({
  skip:
    spawnSync(program, ['--version']).error !== undefined &&
    `needs ${program}: apt-get install --no-install-recommends ${debianPackage}`,
});

/** Returns the entries of a JSON log. Ignores other lines, such as those printed when the service starts. */
export const parseLog = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
