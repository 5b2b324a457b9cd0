import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import pLimit from 'p-limit';
import { answersStill, launch, stop } from './control.js';
import { ServicesError } from './errors.js';
import { alone, folder } from './folder.js';
import { freePort, isFree } from './ports.js';
import { lives } from './processes.js';
import { say, since } from './say.js';
import { servers } from './servers.js';
import { newState, readState, SERVER_NAMES, type ServerName, type State, writeState } from './state.js';

/** So many are fetched at once. */
const fetching = pLimit(2);

/** Brings up what is not up, and waits until everything answers. */
export function up(): Promise<State> {
  return alone(async () => {
    check();
    const state = readState() ?? (await begin());
    await all(fetchServer);
    const down = SERVER_NAMES.filter((name) => !isUp(state, name));
    for (const name of down) await settlePort(state, name);
    writeState(state);
    await all((name) => bringUp(state, name));
    return state;
  });
}

/** Says what is needed, and throws before anything is done when some of it is missing. */
function check(): void {
  if (!['linux', 'darwin'].includes(process.platform)) {
    throw new ServicesError('The real servers run on Linux and macOS; on Windows, in WSL.');
  }
  const tools = new Map(SERVER_NAMES.flatMap((name) => servers[name].tools()).map((tool) => [tool.name, tool]));
  say('needs', ['node', ...tools.keys()].join(', '));
  const missing = [...tools.values()].filter(({ there }) => !there);
  if (missing.length > 0) {
    throw new ServicesError(missing.map(({ name, install }) => `Missing: ${name} (${install})`).join('\n'));
  }
  for (const name of SERVER_NAMES) servers[name].check?.();
}

/** A first start. In a copy of a folder, what was fetched is of use; its data may have been copied in mid-write. */
async function begin(): Promise<State> {
  if (existsSync(folder('data'))) say('up', 'this folder is a copy: its data is dropped');
  await rm(folder('data'), { recursive: true, force: true });
  return newState();
}

/** Does something for every server, and then says everything that has failed. */
async function all(action: (name: ServerName) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(SERVER_NAMES.map(action));
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const faults = failures.filter((failure) => !(failure instanceof ServicesError));
  if (faults.length > 0) throw faults[0];
  if (failures.length > 0) throw new ServicesError(failures.map(({ message }) => message).join('\n\n'));
}

function fetchServer(name: ServerName): Promise<void> {
  return fetching(async () => {
    const server = servers[name];
    if (server.fetched()) return;
    const start = performance.now();
    say(name, `fetching ${server.title}`);
    await server.fetch();
    say(name, `fetched in ${since(start)}`);
  });
}

/** It lives and is of the version asked for. */
function isUp(state: State, name: ServerName): boolean {
  const running = state.servers[name];
  return running !== undefined && lives(running) && running.version === servers[name].version();
}

/** A server keeps its port, unless somebody else has taken it. */
async function settlePort(state: State, name: ServerName): Promise<void> {
  await stop(state, name);
  const port = state.ports[name];
  if (port === undefined || !(await isFree(port))) state.ports[name] = await freePort();
}

async function bringUp(state: State, name: ServerName): Promise<void> {
  if (await answersStill(state, name)) return;
  const server = servers[name];
  const port = state.ports[name];
  if (port === undefined) throw new Error(`${name} has no port`);
  const start = performance.now();
  const version = server.version();
  say(name, `starting ${server.title} ${version}`);
  await launch(state, name, version, await server.prepare(state, port));
  say(name, `answers on 127.0.0.1:${port} after ${since(start)}`);
}
