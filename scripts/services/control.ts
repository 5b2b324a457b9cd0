import { existsSync, mkdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../db/support/timeout.js';
import { CommandError } from '../support/command-error.js';
import { folder, withFolderLock } from './folder.js';
import { printMessage, tail } from './messages.js';
import { isAlive, type Launch, type ProcessIdentity, startDetached, terminate } from './processes.js';
import { servers } from './servers.js';
import { readState, SERVER_NAMES, type ServerName, type State, writeState } from './state.js';

const START_TIMEOUT_MS = 90_000;

const POLL_INTERVAL_MS = 200;

/** The timeout of one readiness check. */
const PROBE_TIMEOUT_MS = 5000;

/** Thrown if a server exits before it is ready. */
class ServerExitedError extends CommandError {}

/** Starts a stopped server again, with the same command and address, and waits until it is ready. */
export function startServer(name: ServerName): Promise<void> {
  return withFolderLock(async () => {
    const state = requireState();
    const previous = state.servers[name];
    if (!previous) throw new CommandError(`${name} was never started: npm run services -- up`);
    if (!(await waitIfRunning(state, name))) await launchServer(state, name, previous.version, previous.launch);
  });
}

/** Stops a server gracefully and keeps its data. */
export function stopServer(name: ServerName): Promise<void> {
  return withFolderLock(() => stop(requireState(), name));
}

/** Stops servers. Keeps the folder with their data and downloads, unless `purge` is set. */
export async function down(names: readonly ServerName[], purge = false): Promise<void> {
  if (!existsSync(folder())) return;
  await withFolderLock(async () => {
    const state = readState();
    await Promise.all(
      names.map(async (name) => {
        if (!state || !isAlive(state.servers[name])) return;
        await stop(state, name);
        printMessage(name, 'stopped');
      }),
    );
    if (purge) await rm(folder(), { recursive: true });
  });
}

/** Returns the servers whose processes are running. */
export function runningServers(): ServerName[] {
  const state = readState();
  return SERVER_NAMES.filter((name) => isAlive(state?.servers[name]));
}

function requireState(): State {
  const state = readState();
  if (!state) throw new CommandError(`No servers were ever started in ${folder()}: npm run services -- up`);
  return state;
}

/**
 * Starts a server and waits until it is ready. Saves its process id first, so that `down` can always stop it. Tries again if
 * the server exits with an error that its `retryOn` matches.
 */
export async function launchServer(state: State, name: ServerName, version: string, launch: Launch): Promise<void> {
  mkdirSync(folder('logs'), { recursive: true });
  const logPath = folder('logs', `${name}.log`);
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
    const logOffset = statSync(logPath, { throwIfNoEntry: false })?.size ?? 0;
    const running = { ...startDetached(launch, logPath), version, launch };
    state.servers[name] = running;
    writeState(state);
    try {
      return await waitUntilReady(state, name, running, logOffset);
    } catch (error) {
      const canRetry = error instanceof ServerExitedError && servers[name].retryOn?.test(error.message);
      if (!canRetry || Date.now() > deadline) throw error;
    }
  }
}

/** Waits until a running server is ready. Returns false if it is not running or exits while waiting. */
export async function waitIfRunning(state: State, name: ServerName): Promise<boolean> {
  const running = state.servers[name];
  if (!running || !isAlive(running)) return false;
  try {
    await waitUntilReady(state, name, running);
    return true;
  } catch (error) {
    if (error instanceof ServerExitedError) return false;
    throw error;
  }
}

export async function stop(state: State, name: ServerName): Promise<void> {
  const running = state.servers[name];
  if (running) await terminate(running, servers[name].stopSignal);
}

/** @throws CommandError with the end of the log, without its first `logOffset` bytes */
async function waitUntilReady(state: State, name: ServerName, running: ProcessIdentity, logOffset = 0): Promise<void> {
  let reason = '';
  const endOfLog = () => tail(folder('logs', `${name}.log`), logOffset);
  for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_INTERVAL_MS)) {
    if (!isAlive(running)) throw new ServerExitedError(`${name} exited before it was ready.\n${endOfLog()}`);
    try {
      return await probe(state, name);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new CommandError(`${name} is not ready after ${START_TIMEOUT_MS / 1000} s: ${reason}\n${endOfLog()}`);
}

/** Rejects unless the server responds in time. */
async function probe(state: State, name: ServerName): Promise<void> {
  await withTimeout(PROBE_TIMEOUT_MS, servers[name].checkReady(state, state.ports[name]));
}
