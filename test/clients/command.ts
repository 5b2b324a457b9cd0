import { spawn } from 'node:child_process';
import { collectOutput } from '../support/output.js';

export interface Outcome {
  ok: boolean;
  output: string;
  seconds: number;
}

interface RunOptions {
  cwd: string;
  /** Added to the environment of this process. */
  env?: NodeJS.ProcessEnv;
}

const COMMAND_TIMEOUT_MS = 600_000;

/** Runs a command to its end. The output includes standard error. */
export async function run([program = '', ...args]: readonly string[], { cwd, env }: RunOptions): Promise<Outcome> {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const output = collectOutput(child);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code) => resolve(code === 0 ? undefined : ''));
  });
  return {
    ok: failure === undefined,
    output: output() + (failure ?? ''),
    seconds: (performance.now() - start) / 1000,
  };
}
