import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { type Config, urlOf } from '../handlers/config/index.js';
import { storeUnavailable } from '../handlers/errors.js';
import { buildOpsServer, type OpsServer, type StoreStates } from '../handlers/http/ops.js';
import { CommandError } from './support/command-error.js';

/*
 * Runs the service in several processes on one port (`WORKERS`).
 *
 * The primary process passes connections to the workers in turn, and serves the operations port: the states of the stores as a
 * worker reports them, and the aggregated metrics of all workers. A worker that ends unexpectedly is replaced. SIGHUP replaces
 * the workers one at a time: a worker stops only after its successor listens.
 */

/** A message from a worker to the primary process. */
export type WorkerMessage =
  | { kind: 'listening'; url: string; opsUrl: string }
  /** The worker cannot run and has printed the reason. A replacement would fail for the same reason. */
  | { kind: 'failed' };

/**
 * A message from the primary process to a worker. Workers ignore signals, because a signal to the process group reaches the
 * primary process and the workers.
 */
export type PrimaryMessage = { kind: 'stop' };

interface RunningWorker {
  process: Worker;
  url: string;
  opsUrl: string;
}

/** The delay before a worker that ended unexpectedly is replaced, and between failed starts. */
const REPLACE_DELAY_MS = 1000;

/** Longer than a worker takes to complete its requests and to close its stores. */
const STOP_TIMEOUT_MS = 15_000;

/** Longer than a worker takes to check its stores. */
const READINESS_TIMEOUT_MS = 3000;

/** Overrides for workers: the primary process has the operations port, and waits for the shutdown delay. */
const WORKER_ENVIRONMENT = { OPS_HOST: '127.0.0.1', OPS_PORT: '0', SHUTDOWN_DELAY: '0' };

/**
 * Starts the workers.
 *
 * @param onFailed called when a worker reports that the service cannot run, for example because a store belongs to another
 *   installation
 * @throws CommandError if a worker cannot start
 */
export async function startWorkers(config: Config, log: Logger, onFailed: () => void) {
  const running = new Set<RunningWorker>();
  const starts = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  /** The worker for which `restartEach` starts a successor. */
  let beingReplaced: RunningWorker | undefined;

  /** Starts a worker. `stop` waits until a start in progress has ended. */
  function start(): Promise<void> {
    const starting = startWorker();
    starts.add(starting);
    return starting.finally(() => starts.delete(starting));
  }

  async function startWorker(): Promise<void> {
    const worker = cluster.fork(WORKER_ENVIRONMENT);
    const { pid } = worker.process;
    worker.on('error', (error) => log.warn({ err: error, pid }, 'the channel to a worker failed'));
    const { url, opsUrl } = await untilListening(worker, onFailed);
    const started = { process: worker, url, opsUrl };
    running.add(started);
    log.info({ pid }, 'worker started');
    worker.once('exit', (code, signal) => {
      // Workers that are stopped on purpose are no longer in the set.
      if (!running.delete(started) || stopping.signal.aborted || started === beingReplaced) return;
      log.error({ pid, code, signal }, 'worker ended unexpectedly: starting another');
      void replace();
    });
  }

  async function replace(): Promise<void> {
    for (;;) {
      await sleep(REPLACE_DELAY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const hasStarted = await start().then(
        () => true,
        () => false,
      );
      if (hasStarted) return;
    }
  }

  async function end(worker: RunningWorker): Promise<void> {
    running.delete(worker);
    if (worker.process.isDead()) return;
    const ended = new Promise((resolve) => worker.process.once('exit', resolve));
    const kill = setTimeout(() => worker.process.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    worker.process.send({ kind: 'stop' } satisfies PrimaryMessage);
    await ended;
    clearTimeout(kill);
  }

  let restarting: Promise<void> | undefined;
  async function restartEach(): Promise<void> {
    log.info('restarting the workers one at a time');
    for (const old of [...running]) {
      if (stopping.signal.aborted) return;
      // This worker has ended by itself, and is being replaced.
      if (!running.has(old)) continue;
      beingReplaced = old;
      try {
        await start();
      } catch (error) {
        log.error({ err: error }, 'restart abandoned: a new worker did not start');
        if (!running.has(old)) void replace();
        return;
      } finally {
        beingReplaced = undefined;
      }
      await end(old);
    }
    log.info('restarted the workers');
  }
  const restart = () => {
    restarting ??= restartEach().finally(() => {
      restarting = undefined;
    });
  };
  // A terminal sends SIGHUP when it closes, which must end a service that runs in it.
  if (!process.stdout.isTTY) process.on('SIGHUP', restart);

  // The first worker starts alone, because it migrates the stores.
  await start();
  await Promise.all(Array.from({ length: config.workers - 1 }, start));
  const ops = await startOps(config, log, running);
  const [first] = running as Iterable<RunningWorker>;
  return {
    url: first?.url ?? '',
    opsUrl: ops.url,
    /** Fails readiness checks for `shutdownDelaySeconds`, then stops all workers. */
    async stop() {
      ops.drain();
      await sleep(config.shutdownDelaySeconds * 1000);
      stopping.abort();
      await Promise.allSettled([...starts, restarting]);
      await Promise.all([...running].map(end));
      await ops.server.close();
    },
  };
}

/** Waits until a worker listens. @throws CommandError if it exits first */
function untilListening(worker: Worker, onFailed: () => void): Promise<{ url: string; opsUrl: string }> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'listening') resolve(message);
      if (message.kind === 'failed') onFailed();
    });
    worker.once('exit', () => reject(new CommandError('A worker could not start')));
  });
}

/** Starts the operations server for all workers. */
async function startOps(
  { opsHost, opsPort }: Config,
  log: Logger,
  running: ReadonlySet<RunningWorker>,
): Promise<OpsServer & { url: string }> {
  const registry = new AggregatorRegistry();
  const text = () =>
    registry.clusterMetrics().catch((error) => {
      log.warn({ err: error }, 'a worker did not return its metrics');
      throw storeUnavailable();
    });
  const metrics = { contentType: registry.contentType, text };
  const ops = buildOpsServer(() => readSharedStores(running), metrics, log);
  await ops.server.listen({ host: opsHost, port: opsPort });
  const address = ops.server.server.address();
  return { ...ops, url: urlOf(opsHost, typeof address === 'object' && address ? address.port : opsPort) };
}

/** Returns the states of the stores as the first worker to respond reports them. All workers share the stores. */
async function readSharedStores(running: ReadonlySet<RunningWorker>): Promise<StoreStates> {
  const responses = [...running].map(async ({ opsUrl }) => {
    const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
    const { stores } = (await response.json()) as { stores?: StoreStates };
    if (!stores) throw new Error(`status ${response.status}`);
    return stores;
  });
  return Promise.any(responses).catch(() => {
    throw storeUnavailable();
  });
}
