import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import { CommandError } from '../support/command-error.js';
import { launchServer, stop, waitIfRunning } from './control.js';
import { folder, withFolderLock } from './folder.js';
import { formatElapsed, printMessage } from './messages.js';
import { findFreePort, isFree } from './ports.js';
import { isAlive } from './processes.js';
import { servers } from './servers.js';
import { generateState, readState, SERVER_NAMES, type ServerName, type State, writeState } from './state.js';

const fetchLimit = pLimit(2);

/** Starts all servers that are not running, and waits until all are ready. */
export function up(): Promise<State> {
  return withFolderLock(async () => {
    checkRequirements();
    const state = readState() ?? (await createState());
    await forEachServer(fetchServer);
    const down = SERVER_NAMES.filter((name) => !isUp(state, name));
    for (const name of down) await stopAndAssignPort(state, name);
    writeState(state);
    await forEachServer((name) => startIfDown(state, name));
    return state;
  });
}

/** Prints the required programs. @throws CommandError if programs are missing or a server cannot run on this machine */
function checkRequirements(): void {
  if (!['linux', 'darwin'].includes(process.platform)) {
    throw new CommandError('The servers need Linux, macOS, or WSL on Windows.');
  }
  const programs = SERVER_NAMES.flatMap((name) => servers[name].requiredPrograms());
  printMessage('requires', ['node', ...programs.map(({ name }) => name)].join(', '));
  const missing = programs.filter(({ isFound }) => !isFound);
  if (missing.length > 0) {
    throw new CommandError(missing.map(({ name, installHint }) => `Missing: ${name} (${installHint})`).join('\n'));
  }
  for (const name of SERVER_NAMES) servers[name].check?.();
}

/** Creates the state for a first start. A copied folder keeps its downloads but not its data, which may be inconsistent. */
async function createState(): Promise<State> {
  if (existsSync(folder('data'))) printMessage('up', 'this folder is a copy: deleting its data');
  await rm(folder('data'), { recursive: true, force: true });
  return generateState();
}

/** Runs an action for all servers in parallel. Throws the first unexpected error, or one CommandError with all messages. */
async function forEachServer(action: (name: ServerName) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(SERVER_NAMES.map(action));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const unexpected = failures.filter((failure) => !(failure instanceof CommandError));
  if (unexpected.length > 0) throw unexpected[0];
  if (failures.length > 0) throw new CommandError(failures.map(({ message }) => message).join('\n\n'));
}

function fetchServer(name: ServerName): Promise<void> {
  return fetchLimit(async () => {
    const server = servers[name];
    if (server.isFetched()) return;
    const start = performance.now();
    printMessage(name, `fetching ${server.title}`);
    await server.fetch();
    printMessage(name, `fetched in ${formatElapsed(start)}`);
  });
}

/** Returns whether a server is running in the requested version. */
function isUp(state: State, name: ServerName): boolean {
  const running = state.servers[name];
  return isAlive(running) && running?.version === servers[name].version();
}

/** Stops a server that runs in another version, and assigns a new port if another process uses its port. */
async function stopAndAssignPort(state: State, name: ServerName): Promise<void> {
  await stop(state, name);
  if (!(await isFree(state.ports[name]))) state.ports[name] = await findFreePort();
}

async function startIfDown(state: State, name: ServerName): Promise<void> {
  if (await waitIfRunning(state, name)) return;
  const server = servers[name];
  const port = state.ports[name];
  const start = performance.now();
  const version = server.version();
  printMessage(name, `starting ${server.title} ${version}`);
  await launchServer(state, name, version, await server.prepare(state, port));
  printMessage(name, `ready on 127.0.0.1:${port} after ${formatElapsed(start)}`);
}
