import { type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, createWriteStream, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ServicesError } from './errors.js';
import { folder } from './folder.js';
import { say, since, tail } from './say.js';

/** A program that must be there. */
export interface Tool {
  name: string;
  there: boolean;
  /** Where to get it. */
  install: string;
}

/** Where a command is, as the shell would find it. */
export function find(command: string): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  return places.map((directory) => join(directory, command)).find(executable);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function tool(name: string, install: string): Tool {
  return { name, there: find(name) !== undefined, install };
}

/** What a command prints, standard error included where it alone is used. */
export function outputOf(command: string, args: string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options }).toString();
}

interface Run {
  cwd?: string;
  env?: Record<string, string>;
  user?: { uid: number; gid: number };
}

/** Between two signs of life of a command that takes long, in milliseconds. */
const SIGN_OF_LIFE = 5000;

/**
 * Runs a command to its end, with its output in a log and its last line shown now and then.
 *
 * @throws ServicesError with the end of that log when it fails
 */
export async function run(who: string, command: string, args: string[], { cwd, env, user }: Run = {}): Promise<void> {
  mkdirSync(folder('logs'), { recursive: true });
  const path = folder('logs', `${who}-setup.log`);
  const log = createWriteStream(path, { flags: 'w' });
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
    ...user,
  });
  let last = '';
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      log.write(`${line}\n`);
      if (line.trim()) last = line.trim();
    });
  }
  const start = performance.now();
  const sign = setInterval(() => say(who, `… ${since(start)}: ${last.slice(0, 90)}`), SIGN_OF_LIFE);
  try {
    const outcome = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
    });
    await new Promise((done) => log.end(done));
    if (outcome !== 0) throw new ServicesError(`${who}: ${command} failed (${outcome}).\n${tail(path)}`);
  } finally {
    clearInterval(sign);
  }
}
