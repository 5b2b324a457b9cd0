import { spawn } from 'node:child_process';

export interface Outcome {
  ok: boolean;
  output: string;
  seconds: number;
}

export interface RunOptions {
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
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  }
  const ok = await new Promise<boolean>((resolve) => {
    child.once('error', ({ message }) => {
      output += message;
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
  return { ok, output, seconds: (performance.now() - start) / 1000 };
}
