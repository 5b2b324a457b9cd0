import cluster from 'node:cluster';
import { once } from 'node:events';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Config, readConfig } from '../handlers/config/index.js';
import { createLogger } from '../handlers/config/logger.js';
import { configWarnings } from '../handlers/config/warnings.js';
import { startService } from '../handlers/service.js';
import { printableError, runCommand } from './support/command.js';
import { createServiceCommand } from './support/service-command.js';
import type { PrimaryMessage, WorkerMessage } from './workers.js';

/** Returns a list of the configured stores. It contains only the hosts of URLs, because a URL may contain a password. */
function describeStores({ stores: { postgres, neo4j, s3 }, redis }: Config): string {
  const describeUrl = (name: string, url: string | undefined) =>
    url === undefined ? [] : [`${name} at ${new URL(url).host}`];
  const stores = [
    ...describeUrl('PostgreSQL', postgres?.url),
    ...describeUrl('Neo4j', neo4j?.uri),
    ...(s3 ? [`S3 bucket ${s3.bucket}`] : []),
    ...describeUrl('Redis', redis?.url),
  ];
  return stores.join(', ') || 'embedded';
}

const describeService = (config: Config, { url, opsUrl }: Running) =>
  [
    '',
    `  API         ${url}`,
    `  Explorer    ${url}/docs`,
    `  Contract    ${url}/openapi.yaml`,
    `  Operations  ${opsUrl}/readyz`,
    `  Stores      ${describeStores(config)}`,
    ...(config.workers > 1 ? [`  Workers     ${config.workers}, of process ${process.pid}`] : []),
    `  Data        ${resolve(config.stores.dataDir)}`,
    '',
  ].join('\n');

/** The service in this process, or the workers that run it. */
interface Running {
  url: string;
  opsUrl: string;
  stop(): Promise<void>;
}

/** Starts the service in this process. In a worker, reports the addresses to the primary process. */
async function startHere(config: Config, log: Logger): Promise<Running> {
  const service = await startService(config, log);
  // A store that was unavailable during the start is checked later. It may belong to another installation.
  service.stores.verified.catch((error) => {
    console.error(printableError(error));
    reportToPrimary({ kind: 'failed' });
    requestStop(1);
  });
  reportToPrimary({ kind: 'listening', url: service.url, opsUrl: service.opsUrl });
  return service;
}

function reportToPrimary(message: WorkerMessage): void {
  if (cluster.isWorker) process.send?.(message);
}

let running: Running | undefined;

/** Set once this process is to stop. */
let exitCode: number | undefined;

/** Stops the service and exits, once its start is complete. */
function requestStop(code = 0): void {
  // Ctrl-C arrives twice: from the terminal and from npm.
  if (exitCode !== undefined) return;
  exitCode = code;
  if (running) void stopAndExit(running, code);
}

/**
 * Stops the service. Before the start is complete, exits immediately, as a process without a handler would. A handler is needed
 * for this too, because process 1 of a container ignores a signal that has no handler.
 */
function onSignal(signal: NodeJS.Signals): void {
  if (running) requestStop();
  else process.exit(128 + constants.signals[signal]);
}

async function stopAndExit(service: Running, code: number): Promise<never> {
  try {
    await service.stop();
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
  process.exit(code);
}

async function start(): Promise<void> {
  try {
    // Only `npm run dev` and the primary process open a channel to this process, which stops when the channel closes.
    const disconnected = once(process, 'disconnect');
    if (cluster.isPrimary) process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    const config = readConfig(process.env);
    const log = createLogger(config);
    // Workers print no warnings: they have other variables, and would repeat each line.
    if (cluster.isPrimary) for (const warning of configWarnings(config)) log.warn(warning);
    if (cluster.isPrimary && config.workers > 1) {
      const { startWorkers } = await import('./workers.js');
      running = await startWorkers(config, log, () => requestStop(1));
    } else running = await startHere(config, log);
    disconnected.then(() => requestStop());
    if (cluster.isWorker) {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
      process.on('message', ({ kind }: PrimaryMessage) => kind === 'stop' && requestStop());
    } else if (exitCode === undefined) console.log(describeService(config, running));
    if (exitCode !== undefined) await stopAndExit(running, exitCode);
  } catch (error) {
    console.error(printableError(error));
    process.exit(1);
  }
}

await runCommand(createServiceCommand('start', 'Starts the service.').action(start));
