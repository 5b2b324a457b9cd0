import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { makePrivateDirectory } from '../db/support/data-directory.js';
import { OverloadedError, StoreUnavailableError } from '../db/support/errors.js';
import type { Log } from '../db/support/log.js';
import { type AdminActions, AdminInputError } from './admin/index.js';

/*
 * The control server: an HTTP server on a Unix socket. `npm run backup` and `npm run admin` use it to send their work to the
 * process that has claimed the data directory. There is no authentication. Access is limited by the permissions of the socket's
 * directory, which only its owner can enter.
 */

export const BACKUP_PATH = '/backup';
/** The path of an action, followed by its name. The request's body is the JSON of its argument. */
export const ADMIN_PATH = '/admin/';
/** The media type of archives. Other responses are JSON, or the text of an error. */
export const ARCHIVE_TYPE = 'application/x-tar';

/** Node 20 truncates a longer path, which would create the socket outside its private directory. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** A client that reads nothing for this long is disconnected, because a backup delays checkpoints and the removal of images. */
const BACKUP_IDLE_TIMEOUT_MS = 60_000;

/**
 * Returns the path of the socket. It is relative if that is shorter, because a path of about 100 bytes is too long for a
 * socket.
 */
export function controlSocketPath(directory: string): string {
  const absolute = join(directory, 'socket');
  const fromCwd = relative(process.cwd(), absolute);
  return fromCwd.length < absolute.length ? fromCwd : absolute;
}

interface ControlServer {
  close(): Promise<void>;
}

/** What the control server does for commands. */
interface ControlledWork {
  backup(): AsyncGenerator<Uint8Array>;
  admin: AdminActions;
}

/**
 * Starts the control server. Logs a warning if that fails. The server responds with 409 while another backup is in
 * progress.
 */
export async function startControlServer(
  directory: string,
  { backup, admin }: ControlledWork,
  log: Log,
  { idleTimeoutMs = BACKUP_IDLE_TIMEOUT_MS } = {},
): Promise<ControlServer> {
  let backingUp = false;
  async function sendBackup(response: ServerResponse): Promise<void> {
    if (backingUp) return void response.writeHead(409).end();
    backingUp = true;
    log.info({}, 'backup started');
    await sendArchive(response, backup())
      .then(() => log.info({}, 'backup complete'))
      .catch((err) => log.warn({ err }, 'backup failed'))
      .finally(() => {
        backingUp = false;
      });
  }
  const server = createServer(async (request, response) => {
    const { method, url = '' } = request;
    if (method === 'POST' && url === BACKUP_PATH) return sendBackup(response);
    const action = url.startsWith(ADMIN_PATH) ? url.slice(ADMIN_PATH.length) : '';
    if (method === 'POST' && Object.hasOwn(admin, action))
      return runAction(admin, action as keyof AdminActions, request, response, log);
    response.writeHead(404).end();
  });
  server.timeout = idleTimeoutMs;
  // Without this listener, Node would also disconnect a client that waits for this service.
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  const socketPath = controlSocketPath(directory);
  try {
    if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES)
      throw new Error(`${socketPath} is too long for a socket`);
    await makePrivateDirectory(directory);
    // A process that was killed leaves its socket file behind.
    await rm(socketPath, { force: true });
    server.listen(socketPath);
    await once(server, 'listening');
    // Without a listener, a failed `accept` would end the process.
    server.on('error', (err) => log.warn({ err }, 'control socket failed'));
    await chmod(socketPath, 0o600);
  } catch (error) {
    log.warn({ err: error }, 'control socket unavailable: stop the service before running npm run backup');
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends an archive. Closes the connection if it ends early, so that the client does not take it for complete. */
async function sendArchive(response: ServerResponse, archive: AsyncGenerator<Uint8Array>): Promise<void> {
  response.setHeader('Content-Type', ARCHIVE_TYPE);
  try {
    await pipeline(Readable.from(archive, { objectMode: false }), response);
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Runs an action with the argument in the request, and sends its result or error. */
async function runAction(
  admin: AdminActions,
  name: keyof AdminActions,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
): Promise<void> {
  try {
    const result = await admin[name](JSON.parse(await text(request)) as never);
    if (Symbol.asyncIterator in result) await sendArchive(response, result);
    else response.end(JSON.stringify(result));
  } catch (error) {
    const status = statusOf(error);
    if (status === 500) log.warn({ err: error }, `${name} failed`);
    if (response.headersSent) response.destroy();
    else response.writeHead(status).end(status === 500 ? '' : (error as Error).message);
  }
}

function statusOf(error: unknown): number {
  if (error instanceof AdminInputError) return 400;
  return error instanceof StoreUnavailableError || error instanceof OverloadedError ? 503 : 500;
}
