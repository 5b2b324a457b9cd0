import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A command that starts a process, which inherits only `PATH` from the environment. */
export interface Launch {
  command: string;
  args: string[];
  cwd: string;
  env?: Record<string, string>;
  user?: { uid: number; gid: number };
}

/** A process id with the start time, to detect a reused id. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

const isLinux = process.platform === 'linux';

const POLL_INTERVAL_MS = 50;

const SHUTDOWN_TIMEOUT_MS = 20_000;

/** Starts a process in a new session, so that it outlives the current process. Appends its output to a log. */
export function startDetached(launch: Launch, log: string): ProcessIdentity {
  const output = openSync(log, 'a', 0o600);
  const child = spawn(launch.command, launch.args, {
    cwd: launch.cwd,
    env: { PATH: process.env.PATH, ...launch.env },
    stdio: ['ignore', output, output],
    detached: true,
    ...launch.user,
  });
  closeSync(output);
  child.unref();
  // A missing command has no pid and emits `error`, which must have a listener.
  child.once('error', () => {});
  const { pid } = child;
  const started = pid === undefined ? undefined : startTimeOf(pid);
  if (pid === undefined || started === undefined) throw new Error(`${launch.command} could not be started`);
  return { pid, started };
}

export function isAlive(target: ProcessIdentity | undefined): boolean {
  return target !== undefined && startTimeOf(target.pid) === target.started;
}

/** Sends a signal if the process is still running. */
function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (isAlive(target)) process.kill(target.pid, name);
}

/** Stops a process, with SIGKILL after the shutdown timeout, and waits until it has exited. */
export async function terminate(target: ProcessIdentity, stopSignal: NodeJS.Signals): Promise<void> {
  signal(target, stopSignal);
  for (const deadline = Date.now() + SHUTDOWN_TIMEOUT_MS; isAlive(target) && Date.now() < deadline; )
    await sleep(POLL_INTERVAL_MS);
  signal(target, 'SIGKILL');
  while (isAlive(target)) await sleep(POLL_INTERVAL_MS);
}

/** Returns the start time of a process in a system-specific form, or undefined if it has exited or is a zombie. */
function startTimeOf(pid: number): string | undefined {
  if (!isLinux) {
    const [state, ...start] = runPs(pid)?.split(/\s+/) ?? [];
    return state === undefined || state.startsWith('Z') ? undefined : start.join(' ');
  }
  // proc_pid_stat(5): the name, field 2, is in parentheses and may contain any character. State is field 3, start field 22.
  const fields = readStat(pid)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
}

function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the state and the start time, or undefined if there is no such process. */
function runPs(pid: number): string | undefined {
  const env = { LC_ALL: 'C', PATH: process.env.PATH };
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
  return stdout?.trim() || undefined;
}
