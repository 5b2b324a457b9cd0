import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { type Config, urlOf } from '../handlers/config/index.js';
import { buildOpsServer, type OpsServer, type StoreStates } from '../handlers/http/ops.js';
import { CommandError } from './command-error.js';

/*
 * Runs the service in several processes on one port (`WORKERS`).
 *
 * The primary process passes connections to the workers in turn, and serves the operations port: the readiness of a worker, and
 * the metrics of all workers added up. A worker that ends unexpectedly is replaced. SIGHUP replaces the workers one at a time: a
 * worker stops only after its successor listens.
 */

/** What a worker tells the primary process. */
export type WorkerMessage =
  | { kind: 'listening'; url: string; opsUrl: string }
  /** The worker cannot run, for a reason that it has printed. It would fail again. */
  | { kind: 'failed' };

interface RunningWorker {
  process: Worker;
  url: string;
  opsUrl: string;
}

export interface Workers {
  url: string;
  opsUrl: string;
  /** Stops all workers as `Service.stop` stops the service. */
  stop(): Promise<void>;
}

/** The wait before a worker that ended unexpectedly is replaced. It doubles while workers fail to start. */
const REPLACE_BACKOFF_MS = { min: 500, max: 30_000 };

/** The primary process accepts operators' requests, and delays the shutdown. */
const WORKER_ENVIRONMENT = { OPS_HOST: '127.0.0.1', OPS_PORT: '0', SHUTDOWN_DELAY: '0' };

/**
 * Starts the workers.
 *
 * @param onFailed called when a worker reports that the service cannot run, for example because a store turned out to belong to
 *   another installation
 * @throws CommandError if a worker cannot start
 */
export async function startWorkers(config: Config, log: Logger, onFailed: () => void): Promise<Workers> {
  const running = new Set<RunningWorker>();
  const stopping = new AbortController();

  async function start(): Promise<RunningWorker> {
    const worker = cluster.fork(WORKER_ENVIRONMENT);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'failed') onFailed();
    });
    const listening = await untilListening(worker);
    const started = { process: worker, ...listening };
    running.add(started);
    log.info({ pid: worker.process.pid }, 'worker started');
    worker.once('exit', (code, signal) => {
      // A worker that is stopped has been removed before.
      if (!running.delete(started) || stopping.signal.aborted) return;
      log.error({ pid: worker.process.pid, code, signal }, 'worker ended unexpectedly: starting another');
      void replace();
    });
    return started;
  }

  async function replace(): Promise<void> {
    let backoffMs = REPLACE_BACKOFF_MS.min;
    while (!stopping.signal.aborted) {
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const started = await start().catch(() => undefined);
      if (started) return;
      backoffMs = Math.min(2 * backoffMs, REPLACE_BACKOFF_MS.max);
    }
  }

  async function end(worker: RunningWorker): Promise<void> {
    running.delete(worker);
    if (worker.process.isDead()) return;
    const ended = once(worker.process, 'exit');
    worker.process.process.kill('SIGTERM');
    await ended;
  }

  let restarting: Promise<void> | undefined;
  async function restartEach(): Promise<void> {
    log.info('restarting the workers one at a time');
    for (const old of [...running]) {
      if (stopping.signal.aborted) return;
      try {
        await start();
      } catch (error) {
        log.error({ err: error }, 'restart abandoned: a new worker did not start');
        return;
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
  // The signal also says that the terminal was closed, which ends a service that runs in one.
  if (!process.stdout.isTTY) process.on('SIGHUP', restart);

  // The first one migrates the stores.
  await start();
  await Promise.all(Array.from({ length: config.workers - 1 }, start));
  const ops = await startOps(config, running);
  const [first] = running as Iterable<RunningWorker>;
  return {
    url: first?.url ?? '',
    opsUrl: ops.url,
    async stop() {
      ops.drain();
      await sleep(config.shutdownDelaySeconds * 1000);
      stopping.abort();
      await restarting;
      await Promise.all([...running].map(end));
      await ops.server.close();
    },
  };
}

/** Waits until a worker listens. @throws CommandError if it ends before */
async function untilListening(worker: Worker): Promise<{ url: string; opsUrl: string }> {
  const ended = new AbortController();
  worker.once('exit', () => ended.abort());
  try {
    for (;;) {
      const [message] = (await once(worker, 'message', { signal: ended.signal })) as [WorkerMessage];
      if (message.kind === 'listening') return { url: message.url, opsUrl: message.opsUrl };
    }
  } catch {
    throw new CommandError('A worker could not start');
  }
}

/** Starts the operations server for all workers. */
async function startOps(
  { opsHost, opsPort }: Config,
  running: ReadonlySet<RunningWorker>,
): Promise<OpsServer & { url: string }> {
  const registry = new AggregatorRegistry();
  const metrics = { contentType: registry.contentType, text: () => registry.clusterMetrics() };
  const ops = buildOpsServer(() => readStoresOfAny(running), metrics);
  await ops.server.listen({ host: opsHost, port: opsPort });
  const address = ops.server.server.address();
  return { ...ops, url: urlOf(opsHost, typeof address === 'object' && address ? address.port : opsPort) };
}

/** Returns the states of the stores, which the workers share, as the first worker that responds sees them. */
async function readStoresOfAny(running: ReadonlySet<RunningWorker>): Promise<StoreStates> {
  const responses = [...running].map(async ({ opsUrl }) => {
    const response = await fetch(`${opsUrl}/readyz`);
    return ((await response.json()) as { stores: StoreStates }).stores;
  });
  return Promise.any(responses);
}
