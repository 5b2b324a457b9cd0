import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { living } from './control.js';
import { down } from './down.js';
import { ServicesError } from './errors.js';
import { SERVER_NAMES } from './state.js';
import { up } from './up.js';
import { variables } from './variables.js';

/** Runs a command with the variables set, stops afterwards what was started for it, and answers its exit code. */
export async function run([command, ...args]: string[]): Promise<number> {
  if (command === undefined) throw new ServicesError('run needs a command: npm run services -- run -- npm test');
  let ended: NodeJS.Signals | undefined;
  let pass = (signal: NodeJS.Signals) => {
    ended = signal;
  };
  process.on('SIGTERM', (signal) => pass(signal));
  process.on('SIGINT', (signal) => pass(signal));
  const before = living();
  try {
    const state = await up();
    if (ended) return 128 + constants.signals[ended];
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...variables(state) } });
    pass = (signal) => {
      // A terminal sends its Ctrl-C to everybody itself.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => reject(new ServicesError(`${command} cannot be run: ${error.message}`)));
      child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    await down(SERVER_NAMES.filter((name) => !before.includes(name)));
  }
}
