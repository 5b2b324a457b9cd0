import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { type Config, readConfig } from '../handlers/config/index.js';
import { createLogger, logFormatOf } from '../handlers/config/logger.js';
import { configWarnings } from '../handlers/config/warnings.js';
import { addressesOf, listening, type Service, startService } from '../handlers/service.js';
import { COMMIT, VERSION } from '../handlers/version.js';
import { exitCodeOf, printableError, runCommand } from './support/command.js';
import { createServiceCommand } from './support/service-command.js';

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

const describeService = (config: Config, { url, opsUrl }: Service) =>
  [
    '',
    `  API         ${url}`,
    `  Explorer    ${url}/docs`,
    `  Contract    ${url}/openapi.yaml`,
    `  Operations  ${opsUrl}/readyz`,
    `  Stores      ${describeStores(config)}`,
    `  Data        ${resolve(config.stores.dataDir)}`,
    '',
  ].join('\n');

/** Checks that the ports are free before the stores are opened, because that can create a database. */
async function requireFreePorts(config: Config): Promise<void> {
  const probes = Object.values(addressesOf(config)).map((address) => ({ address, server: createServer() }));
  try {
    for (const { address, server } of probes) await listening(once(server.listen(address), 'listening'), address);
  } finally {
    for (const { server } of probes) server.close();
  }
}

interface ContractPaths {
  paths: Record<string, Record<string, { operationId?: string; tags?: string[] }>>;
}

/** Names the operations without a handler. Only `npm run dev` runs code that has such a type error. */
async function reportMissingHandlers(): Promise<void> {
  const { handlers } = await import('../handlers/index.js');
  const { paths } = JSON.parse(await readFile('generated/openapi.json', 'utf8')) as ContractPaths;
  for (const { operationId: id, tags } of Object.values(paths).flatMap((item) => Object.values(item))) {
    if (id && !(id in handlers))
      console.error(`${id} has no handler and returns 500: add it to handlers/${tags?.[0]}.ts.`);
  }
}

let running: Service | undefined;
let isStopping = false;

async function stopAndExit({ context: { log }, stop }: Service, code: number): Promise<void> {
  // Ctrl-C arrives twice: from the terminal and from npm.
  if (isStopping) return;
  isStopping = true;
  log.info('stopping');
  try {
    await stop();
    log.info('stopped');
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
  process.exit(code);
}

/**
 * Stops the service. Before the start is complete, exits immediately, as a process without a handler would. A handler is needed
 * for this too, because process 1 of a container ignores a signal that has no handler.
 */
function onSignal(signal: NodeJS.Signals): void {
  if (running) void stopAndExit(running, 0);
  else process.exit(128 + constants.signals[signal]);
}

async function start(): Promise<void> {
  try {
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    // Only `npm run dev` opens a channel to this process. The channel closes however `npm run dev` ends.
    process.on('disconnect', () => onSignal('SIGTERM'));
    const config = readConfig(process.env);
    const log = createLogger(config);
    log.info({ version: VERSION, commit: COMMIT }, 'starting');
    for (const warning of configWarnings(config)) log.warn(warning);
    await requireFreePorts(config);
    const service = await startService(config, log);
    running = service;
    const { url, opsUrl, stores } = service;
    const details = { url, opsUrl, docsUrl: `${url}/docs`, dataDir: stores.directory.root };
    if (logFormatOf(config, process.stdout) === 'text') console.log(describeService(config, service));
    else log.info({ ...details, stores: describeStores(config) }, 'started');
    // A store that was unavailable during the start is verified later. It may belong to another installation.
    stores.verified.catch((error) => {
      console.error(printableError(error));
      void stopAndExit(service, 1);
    });
    if (process.connected) await reportMissingHandlers();
  } catch (error) {
    console.error(printableError(error));
    process.exit(exitCodeOf(error));
  }
}

await runCommand(
  createServiceCommand('start', 'Starts the service.').version(`${VERSION} (commit ${COMMIT})`).action(start),
);
