import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { CommandError } from '../support/command-error.js';
import { down, runningServers } from './control.js';
import { SERVER_NAMES } from './state.js';
import { up } from './up.js';
import { variables } from './variables.js';

/**
 * Starts the servers, runs a command with their variables, and stops the servers that were not running before. Returns the
 * exit code of the command.
 */
export async function run([command = '', ...args]: string[]): Promise<number> {
  let receivedSignal: NodeJS.Signals | undefined;
  let handleSignal = (signal: NodeJS.Signals) => {
    receivedSignal = signal;
  };
  process.on('SIGTERM', (signal) => handleSignal(signal));
  process.on('SIGINT', (signal) => handleSignal(signal));
  const runningBefore = runningServers();
  try {
    const state = await up();
    if (receivedSignal) return 128 + constants.signals[receivedSignal];
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...variables(state) } });
    handleSignal = (signal) => {
      // A terminal sends SIGINT to the whole process group.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(new CommandError(`Cannot run ${command}: ${error.message}`)));
      child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    await down(SERVER_NAMES.filter((name) => !runningBefore.includes(name)));
  }
}
