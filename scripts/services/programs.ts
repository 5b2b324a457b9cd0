import { type ExecFileSyncOptions, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { CommandError } from '../support/command-error.js';
import { folder } from './folder.js';
import { formatElapsed, printMessage, tail } from './messages.js';

/** A program that must be installed. */
export interface Program {
  name: string;
  isFound: boolean;
  /** How to install the program. */
  installHint: string;
}

/** Returns the path of a command in PATH, if it exists. */
export function findCommand(command: string): string | undefined {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', command], { encoding: 'utf8' });
  return stdout.trim() || undefined;
}

export function findProgram(name: string, installHint: string): Program {
  return { name, isFound: findCommand(name) !== undefined, installHint };
}

/** Runs a command and returns its standard output. */
export function outputOf(command: string, args: string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options }).toString();
}

const PROGRESS_INTERVAL_MS = 5000;

/**
 * Runs a command, writes its output to a log, and regularly prints the last line of output.
 *
 * @param name the server for which the command runs
 * @param options `env` adds variables to those of this process
 * @throws CommandError with the end of the log if the command fails
 */
export async function runLogged(
  name: string,
  command: string,
  args: string[],
  options: SpawnOptions = {},
): Promise<void> {
  mkdirSync(folder('logs'), { recursive: true });
  const path = folder('logs', `${name}-setup.log`);
  const log = openSync(path, 'w');
  const env = { ...process.env, ...options.env };
  const child = spawn(command, args, { ...options, env, stdio: ['ignore', log, log] });
  closeSync(log);
  const start = performance.now();
  const progressTimer = setInterval(
    () => printMessage(name, `… ${formatElapsed(start)}: ${lastLine(path).slice(0, 90)}`),
    PROGRESS_INTERVAL_MS,
  );
  try {
    const [code, signal] = await once(child, 'close');
    if (code !== 0) throw new CommandError(`${name}: ${command} failed (${code ?? signal}).\n${tail(path)}`);
  } finally {
    clearInterval(progressTimer);
  }
}

const lastLine = (path: string) => readFileSync(path, 'utf8').trim().split('\n').at(-1) ?? '';
