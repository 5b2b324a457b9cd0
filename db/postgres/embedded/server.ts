import { once } from 'node:events';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { StoreUnavailableError } from '../../support/errors.js';
import type { Log } from '../../support/log.js';
import { EmbeddedConnection } from './connection.js';
import type { Command, Report, WorkerInput } from './messages.js';

/** The database's directory exists, and cannot be opened. */
export class DatabaseNotOpenedError extends Error {
  readonly code = 'DATABASE_NOT_OPENED';

  constructor(directory: string, reason: string) {
    super(
      `The database in ${directory} cannot be opened: ${reason}. It was not overwritten; if it is damaged, restore a backup of the data directory`,
    );
    this.name = 'DatabaseNotOpenedError';
  }
}

export interface EmbeddedServer {
  /** Returns a connection that is not open yet. PostgreSQL has one session: a second connection ends the first. */
  connection(): EmbeddedConnection;
  /** Shuts PostgreSQL down. */
  close(): Promise<void>;
}

/** How long to wait before a thread that has ended is started again: not at all at first, and at most for so long. */
const RESTART_PAUSE_MS = { first: 250, most: 30_000 };

/** A thread that has served for so long had no trouble starting. */
const STABLE_MS = 60_000;

/** Beside this module, as it was built or as its source. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** Runs the source under tsx, which does not do so by itself in a thread. */
const RUN_SOURCE = `import('tsx/esm/api').then(({ register }) => (register(), import('${WORKER.href}')))`;

/**
 * Runs the embedded PostgreSQL in a thread of its own. A thread that ends unexpectedly, for example for lack of memory, is
 * replaced by another on the same directory, which recovers as after a crash. Until it serves, every connection fails.
 *
 * @throws DatabaseNotOpenedError
 */
export async function startEmbeddedServer(directory: string, log: Log): Promise<EmbeddedServer> {
  const connections = new Set<EmbeddedConnection>();
  const closing = new AbortController();
  let worker: Worker | undefined;
  let restarting: Promise<void> = Promise.resolve();

  async function start(create: boolean): Promise<void> {
    const started = await startWorker({ directory, create });
    const since = performance.now();
    worker = started;
    started.once('exit', () => {
      worker = undefined;
      for (const connection of connections) connection.destroy(new StoreUnavailableError('postgres'));
      if (closing.signal.aborted) return;
      log.warn({ store: 'postgres' }, 'the thread of the embedded PostgreSQL has ended, and is started again');
      restarting = restart(performance.now() - since < STABLE_MS);
    });
  }

  let pauseMs = 0;
  async function restart(soon: boolean): Promise<void> {
    if (!soon) pauseMs = 0;
    while (!worker && !closing.signal.aborted) {
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return;
      pauseMs = Math.min(Math.max(2 * pauseMs, RESTART_PAUSE_MS.first), RESTART_PAUSE_MS.most);
      // A directory that has vanished may return: a new database must not take its place.
      await start(false).then(
        () => log.info({ store: 'postgres' }, 'the embedded PostgreSQL serves again'),
        (error) => log.warn({ err: error, store: 'postgres' }, 'the embedded PostgreSQL could not be started'),
      );
    }
  }

  function connect() {
    if (!worker) throw new StoreUnavailableError('postgres');
    const { port1, port2 } = new MessageChannel();
    send(worker, { kind: 'connect', port: port2 });
    return port1;
  }

  await start(true);
  return {
    connection() {
      const connection = new EmbeddedConnection(connect);
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

const send = (worker: Worker, command: Command) =>
  worker.postMessage(command, command.kind === 'connect' ? [command.port] : []);

/** Resolves once it serves. @throws DatabaseNotOpenedError */
async function startWorker(workerData: WorkerInput): Promise<Worker> {
  const { directory } = workerData;
  const isSource = WORKER.href.endsWith('.ts');
  const worker = new Worker(isSource ? RUN_SOURCE : WORKER, {
    eval: isSource,
    workerData,
    name: 'postgres',
    // Node would repeat --import here: a test runner's or a tracer's hooks have no business in this thread.
    execArgv: [],
  });
  const report = await new Promise<Report>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new DatabaseNotOpenedError(directory, 'PostgreSQL ended while it started')));
  });
  worker.removeAllListeners();
  // The exit event reports failures.
  worker.on('error', () => undefined);
  if (report.kind === 'ready') return worker;
  await worker.terminate();
  throw new DatabaseNotOpenedError(directory, report.reason);
}
