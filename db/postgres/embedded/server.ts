import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { StoreUnavailableError } from '../../support/errors.js';
import type { Log } from '../../support/log.js';
import { EmbeddedConnection } from './connection.js';
import type { Command, Report, WorkerInput } from './messages.js';

/*
 * Starts and supervises the embedded PostgreSQL. It runs in a worker thread, because it blocks its thread while a statement
 * runs.
 *
 * The main thread uses pg, as with a PostgreSQL server. Instead of a socket, pg gets an `EmbeddedConnection`, which
 * exchanges the wire protocol with `worker.ts` over a MessagePort.
 *
 * The thread may end unexpectedly, for example if it runs out of memory. Every connection then fails with
 * StoreUnavailableError. A new thread is started on the same directory, with exponential backoff, and PostgreSQL recovers
 * as after a crash.
 */

/** The database cannot be opened or created. */
export class DatabaseNotOpenedError extends Error {
  override readonly name = 'DatabaseNotOpenedError';
  readonly code = 'database_not_opened';

  constructor(
    directory: string,
    readonly reason: string,
  ) {
    super(
      `The database in ${directory} cannot be opened: ${reason}. It was not overwritten. If it is damaged, restore a backup of the data directory`,
    );
  }
}

interface EmbeddedServer {
  /** Returns a connection, which pg then opens. There is a single session: opening a connection ends the previous one. */
  createConnection(): EmbeddedConnection;
  /** Shuts PostgreSQL down and ends the thread. */
  close(): Promise<void>;
}

/** The first restart is immediate. The wait before the second is `min`, and it doubles up to `max`. */
const RESTART_BACKOFF_MS = { min: 250, max: 30_000 };

/** The backoff is reset if a thread has run for at least this long. */
const STABLE_AFTER_MS = 60_000;

/** The module of the thread. */
const WORKER = new URL('./worker.js', import.meta.url);

/** The module of the process that creates the database. */
const CREATE = new URL('./create.js', import.meta.url);

const threadEnded = () => new StoreUnavailableError('postgres', { cause: new Error('its thread has ended') });

/** Starts the embedded PostgreSQL. Creates the directory if it is missing. @throws DatabaseNotOpenedError */
export async function startEmbeddedServer(directory: string, log: Log): Promise<EmbeddedServer> {
  const connections = new Set<EmbeddedConnection>();
  const closing = new AbortController();
  let worker: Worker | undefined;
  let restarting: Promise<void> = Promise.resolve();

  async function start(): Promise<void> {
    const started = await startWorker({ directory, create: false });
    const startedAt = performance.now();
    worker = started;
    started.once('exit', () => {
      worker = undefined;
      for (const connection of connections) connection.destroy(threadEnded());
      if (closing.signal.aborted) return;
      log.warn({ store: 'postgres' }, 'the thread of the embedded PostgreSQL ended unexpectedly: restarting it');
      restarting = restart(performance.now() - startedAt >= STABLE_AFTER_MS);
    });
  }

  let backoffMs = 0;
  async function restart(resetBackoff: boolean): Promise<void> {
    if (resetBackoff) backoffMs = 0;
    while (!worker && !closing.signal.aborted) {
      await sleep(backoffMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return;
      backoffMs = Math.min(Math.max(2 * backoffMs, RESTART_BACKOFF_MS.min), RESTART_BACKOFF_MS.max);
      // Does not create the directory: if it is missing (unmounted, for example), a new database must not take its place.
      await start().then(
        () => log.info({ store: 'postgres' }, 'the embedded PostgreSQL is available again'),
        (error) => log.warn({ err: error, store: 'postgres' }, 'the embedded PostgreSQL could not be started'),
      );
    }
  }

  /** Opens a session in the thread. Returns the port of its connection. @throws StoreUnavailableError */
  function openSession() {
    if (!worker) throw threadEnded();
    const { port1, port2 } = new MessageChannel();
    send(worker, { kind: 'connect', port: port2 });
    return port1;
  }

  if (!existsSync(directory)) await createDatabase(directory);
  await start();
  return {
    createConnection() {
      const connection = new EmbeddedConnection(openSession);
      connections.add(connection);
      connection.once('close', () => connections.delete(connection));
      return connection;
    },

    async close() {
      closing.abort();
      await restarting;
      if (!worker) return;
      const ended = once(worker, 'exit');
      send(worker, { kind: 'close' });
      await ended;
    },
  };
}

/** Creates the database in a process that ends afterwards. @throws DatabaseNotOpenedError */
async function createDatabase(directory: string): Promise<void> {
  // Optimizing WebAssembly does not pay off in a process that runs for seconds.
  const child = fork(CREATE, [directory], { execArgv: ['--liftoff-only'] });
  let failure: string | undefined;
  child.once('message', (message) => {
    failure = String(message);
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new DatabaseNotOpenedError(directory, failure ?? `its creation ended with ${signal ?? code}`);
}

const send = (worker: Worker, command: Command) =>
  worker.postMessage(command, command.kind === 'connect' ? [command.port] : []);

/** Starts the thread. Resolves when PostgreSQL is ready, or has created the database. @throws DatabaseNotOpenedError */
export async function startWorker(workerData: WorkerInput): Promise<Worker> {
  const { directory } = workerData;
  const worker = new Worker(WORKER, {
    workerData,
    name: 'postgres',
    // Not inherited from this process: hooks that `--import` loads, such as those of a test runner, do not belong here.
    execArgv: [],
  });
  const report = await new Promise<Report>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) => reject(new DatabaseNotOpenedError(directory, error.message)));
    worker.once('exit', () => reject(new DatabaseNotOpenedError(directory, 'PostgreSQL exited during startup')));
  });
  worker.removeAllListeners();
  // Without a listener, an error of the thread would end the process. The error also ends the thread: see the 'exit' listener.
  worker.on('error', () => undefined);
  if (report.kind === 'ready') return worker;
  await worker.terminate();
  throw new DatabaseNotOpenedError(directory, report.reason);
}
