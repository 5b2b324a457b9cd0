import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** How a process is started. It inherits nothing of the environment but `PATH`. */
export interface Launch {
  command: string;
  args: string[];
  cwd: string;
  env?: Record<string, string>;
  user?: { uid: number; gid: number };
}

/** A process told apart from a later one to which the system gives the same id. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

const onLinux = process.platform === 'linux';

/** Between two looks at a process that is to end, in milliseconds. */
const LOOK = 50;

/** What a process gets to end by itself, in milliseconds. */
const GRACE = 20_000;

/** Starts a process that outlives this one, in a session of its own, with its output at the end of a log. */
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
  // A command that is not there has no pid, and says why by this event alone.
  child.once('error', () => {});
  const { pid } = child;
  const started = pid === undefined ? undefined : startOf(pid);
  if (pid === undefined || started === undefined) throw new Error(`${launch.command} could not be started`);
  return { pid, started };
}

export function lives({ pid, started }: ProcessIdentity): boolean {
  return startOf(pid) === started;
}

/** Sends a signal, unless the process is gone. */
export function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (lives(target)) process.kill(target.pid, name);
}

/** Asks a process to end, makes it after twenty seconds, and answers when it is gone. */
export async function end(target: ProcessIdentity, stopSignal: NodeJS.Signals): Promise<void> {
  signal(target, stopSignal);
  // One that is paused hears nothing else.
  signal(target, 'SIGCONT');
  for (const deadline = Date.now() + GRACE; lives(target) && Date.now() < deadline; ) await pause(LOOK);
  signal(target, 'SIGKILL');
  while (lives(target)) await pause(LOOK);
}

/** When a process was started, as the system notes it; undefined when it has ended, even if nobody has buried it yet. */
function startOf(pid: number): string | undefined {
  if (!onLinux) {
    const [state, ...start] = ps(pid, 'stat=,lstart=')?.split(/\s+/) ?? [];
    return state === undefined || state.startsWith('Z') ? undefined : start.join(' ');
  }
  // proc_pid_stat(5): the name, field 2, is in parentheses and may hold any character. State is field 3, start field 22.
  const fields = proc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
}

/** Of a process and its children, in bytes: on Linux with its share of what they share. */
export function memoryOf({ pid }: ProcessIdentity): number {
  if (!onLinux) return Number(ps(pid, 'rss=') ?? 0) * 1024;
  const children = proc(pid, `task/${pid}/children`)?.trim().split(' ').map(Number) ?? [];
  const kilobytes = [pid, ...children].map((each) =>
    Number(/^Pss: +(\d+)/m.exec(proc(each, 'smaps_rollup') ?? '')?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024;
}

function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function ps(pid: number, columns: string): string | undefined {
  try {
    return execFileSync('ps', ['-o', columns, '-p', String(pid)], { env: { LC_ALL: 'C', PATH: process.env.PATH } })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
