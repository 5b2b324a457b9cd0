import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { collectOutput } from '../support/processes.js';

interface RunOptions {
  cwd: string;
  /** Added to the environment of this process. */
  env?: NodeJS.ProcessEnv;
}

const COMMAND_TIMEOUT_MS = 600_000;
/** The maximum length of the output in the error of a failed command. Only the end of a longer output is kept. */
const MAX_OUTPUT_CHARACTERS = 6000;

/** Runs a command to its end. Returns its output, including standard error. Throws with the output if it fails. */
export async function run(command: readonly string[], { cwd, env }: RunOptions): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: COMMAND_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const output = collectOutput(child);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} failed:\n${output().slice(-MAX_OUTPUT_CHARACTERS)}`);
  return output();
}
