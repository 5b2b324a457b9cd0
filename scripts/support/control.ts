import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type BareStores, openBareStores } from '../../db/stores/index.js';
import { DataDirectoryInUseError, pathsIn } from '../../db/support/data-directory.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { buildControlServer, type ControlledWork, controlSocketPath } from '../../handlers/control.js';
import { requireDatabase, withDataDirectory } from './bare-stores.js';
import { CommandError, InUseError, UsageError } from './command-error.js';
import { silentLog } from './silent-log.js';
import { inOneLine } from './table.js';

/** Checks that the stores can be used, and returns what a control server of this process does with them. */
export type PrepareWork = (stores: BareStores, log: Logger) => Promise<ControlledWork>;

interface ControlResponse {
  status: number | undefined;
  body: Readable;
}

/**
 * Sends a request to the service that has claimed the data directory, or to a server of this process if there is no such service.
 * Passes the body of its response to `use`.
 *
 * @throws CommandError; InUseError if the service does not accept commands; UsageError if the body of the request was refused
 * @throws the errors of `openBareStores` and `prepare`
 */
export async function withResponse<Result>(
  prepare: PrepareWork,
  path: string,
  body: object,
  use: (response: Readable) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(process.env);
  const log = createLogger(config, process.stderr);
  requireDatabase(config.stores);
  return withDataDirectory(config.stores, async (selected) => {
    const stores = await openBareStores(selected, silentLog).catch((error): undefined => {
      if (!(error instanceof DataDirectoryInUseError) || selected.postgres) throw error;
    });
    const ended = new AbortController();
    try {
      const response = stores
        ? await inject(buildControlServer(await prepare(stores, log), log), path, body, ended.signal)
        : await sendToService(selected.dataDir, path, body);
      if (response.status !== 200) throw await errorOf(response);
      return await use(response.body);
    } finally {
      ended.abort();
      await stores?.close();
    }
  });
}

async function inject(
  app: FastifyInstance,
  url: string,
  payload: object,
  signal: AbortSignal,
): Promise<ControlResponse> {
  const response = await app.inject({ method: 'POST', url, payload, payloadAsStream: true, signal });
  return { status: response.statusCode, body: response.stream() };
}

const sendToService = (dataDir: string, path: string, body: object): Promise<ControlResponse> =>
  new Promise((resolve, reject) => {
    const socketPath = controlSocketPath(pathsIn(dataDir).control);
    const headers = { 'Content-Type': 'application/json' };
    request({ socketPath, path, method: 'POST', headers }, (response) =>
      resolve({ status: response.statusCode, body: response }),
    )
      .on('error', () =>
        reject(new InUseError(`${dataDir} is in use by a process that does not accept commands: try again later`)),
      )
      .end(JSON.stringify(body));
  });

async function errorOf({ status, body }: ControlResponse): Promise<Error> {
  const content = await text(body);
  if (status === 404) return new CommandError('The service is of another version: restart it');
  const { message } = JSON.parse(content) as { message: string };
  return status === 400 ? new UsageError(inOneLine(message)) : new CommandError(message);
}
