import { mkdirSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ServicesError } from './errors.js';
import { alone, folder } from './folder.js';
import { end, type Launch, lives, type ProcessIdentity, signal, startDetached } from './processes.js';
import { tail } from './say.js';
import { servers } from './servers.js';
import { readState, SERVER_NAMES, type ServerName, type State, writeState } from './state.js';

/** What a server gets to answer, in milliseconds. */
const PATIENCE = 90_000;

/** Between two questions, in milliseconds. */
const LOOK = 200;

/** What one question gets, in milliseconds: a paused server takes connections and says nothing. */
const QUESTION = 5000;

class EndedEarly extends ServicesError {}

/** Starts a server that `up` has started before, the same way and at the same address, and waits until it answers. */
export function startServer(name: ServerName): Promise<void> {
  return alone(async () => {
    const state = knownState();
    const running = state.servers[name];
    if (!running) throw new ServicesError(`${name} was never up: npm run services -- up`);
    if (!(await answersStill(state, name))) await launch(state, name, running.version, running.launch);
  });
}

/** Ends a server in good order and keeps its data. */
export function stopServer(name: ServerName): Promise<void> {
  return alone(() => stop(knownState(), name));
}

/** The process of a server that is up, to be paused or killed. */
export function serverProcess(name: ServerName): ProcessIdentity {
  const running = knownState().servers[name];
  if (!running || !lives(running)) throw new ServicesError(`${name} is not up`);
  return { pid: running.pid, started: running.started };
}

/** Those whose processes live. */
export function living(): ServerName[] {
  const state = readState();
  return SERVER_NAMES.filter((name) => {
    const running = state?.servers[name];
    return running !== undefined && lives(running);
  });
}

/** Whether a server answers now. */
export async function isAnswering(state: State, name: ServerName): Promise<boolean> {
  return ask(state, name).then(
    () => true,
    () => false,
  );
}

export function knownState(): State {
  const state = readState();
  if (!state) throw new ServicesError(`Nothing was ever started in ${folder()}: npm run services -- up`);
  return state;
}

/** Starts a server and waits until it answers. It is noted before, so that it is never lost. */
export async function launch(state: State, name: ServerName, version: string, how: Launch): Promise<void> {
  mkdirSync(folder('logs'), { recursive: true });
  const log = folder('logs', `${name}.log`);
  for (const deadline = Date.now() + PATIENCE; ; await pause(LOOK)) {
    const logged = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const running = { ...startDetached(how, log), version, launch: how };
    state.servers[name] = running;
    writeState(state);
    try {
      return await untilItAnswers(state, name, running, logged);
    } catch (error) {
      const later = error instanceof EndedEarly && servers[name].tryLater?.test(error.message);
      if (!later || Date.now() > deadline) throw error;
    }
  }
}

/** Waits until a server answers that is up. False when it is not, or has been killed a moment ago. */
export async function answersStill(state: State, name: ServerName): Promise<boolean> {
  const running = state.servers[name];
  if (!running || !lives(running)) return false;
  // One that a test has paused and not woken.
  signal(running, 'SIGCONT');
  try {
    await untilItAnswers(state, name, running);
    return true;
  } catch (error) {
    if (error instanceof EndedEarly) return false;
    throw error;
  }
}

export async function stop(state: State, name: ServerName): Promise<void> {
  const running = state.servers[name];
  if (running) await end(running, servers[name].stopSignal);
}

/** @throws ServicesError with the end of its log, from the byte `logged` on */
async function untilItAnswers(state: State, name: ServerName, running: ProcessIdentity, logged = 0): Promise<void> {
  let reason = '';
  const log = () => tail(folder('logs', `${name}.log`), logged);
  for (const deadline = Date.now() + PATIENCE; Date.now() < deadline; await pause(LOOK)) {
    if (!lives(running)) throw new EndedEarly(`${name} has ended before it answered.\n${log()}`);
    try {
      return await ask(state, name);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new ServicesError(`${name} does not answer within ${PATIENCE / 1000} s: ${reason}\n${log()}`);
}

async function ask(state: State, name: ServerName): Promise<void> {
  const port = state.ports[name];
  if (port === undefined) throw new Error('it has no port');
  const late = new AbortController();
  try {
    await Promise.race([
      servers[name].answers(state, port),
      pause(QUESTION, undefined, { signal: late.signal }).then(() => Promise.reject(new Error('no answer'))),
    ]);
  } finally {
    late.abort();
  }
}
