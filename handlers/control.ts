import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makePrivateDirectory } from '../db/support/data-directory.js';
import type { Log } from '../db/support/log.js';

/*
 * The control server: an HTTP server on a Unix socket. `npm run backup` uses it to request a backup from the process that has
 * claimed the data directory. There is no authentication. Access is limited by the permissions of the socket's directory, which
 * only its owner can enter.
 */

export const BACKUP_PATH = '/backup';

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

/**
 * Starts the control server. Logs a warning if that fails. The server responds with 409 while another backup is in
 * progress.
 */
export async function startControlServer(
  directory: string,
  backup: () => AsyncGenerator<Uint8Array>,
  log: Log,
  { idleTimeoutMs = BACKUP_IDLE_TIMEOUT_MS } = {},
): Promise<ControlServer> {
  let backingUp = false;
  const server = createServer(async ({ method, url }, response) => {
    if (method !== 'POST' || url !== BACKUP_PATH) return void response.writeHead(404).end();
    if (backingUp) return void response.writeHead(409).end();
    backingUp = true;
    try {
      log.info({}, 'backup started');
      await pipeline(Readable.from(backup(), { objectMode: false }), response);
      log.info({}, 'backup complete');
    } catch (error) {
      log.warn({ err: error }, 'backup failed');
      response.destroy();
    } finally {
      backingUp = false;
    }
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
