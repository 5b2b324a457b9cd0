import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeOwn } from '../../db/support/data-directory.js';
import type { Log } from '../../db/support/log.js';

/**
 * Where `npm run backup` reaches the process that has claimed the data directory: HTTP on a Unix socket in a directory that
 * only its owner may enter, which is all the authentication there is.
 */
export const BACKUP_PATH = '/backup';

/** The address of the socket, relative where that is shorter: an address has at most about a hundred bytes. */
export function controlSocket(directory: string): string {
  const absolute = join(directory, 'socket');
  const nearer = relative(process.cwd(), absolute);
  return nearer.length < absolute.length ? nearer : absolute;
}

export interface ControlServer {
  close(): Promise<void>;
}

/** Listens for commands. One backup is made at a time. */
export async function listenForCommands(
  directory: string,
  backup: () => AsyncGenerator<Uint8Array>,
  log: Log,
): Promise<ControlServer> {
  let backingUp = false;
  const server = createServer(async ({ method, url }, response) => {
    if (method !== 'POST' || url !== BACKUP_PATH) return void response.writeHead(404).end();
    if (backingUp) return void response.writeHead(409).end();
    backingUp = true;
    try {
      log.info({}, 'a backup has started');
      await pipeline(Readable.from(backup(), { objectMode: false }), response);
      log.info({}, 'a backup is complete');
    } catch (error) {
      log.warn({ err: error }, 'a backup has failed');
      response.destroy();
    } finally {
      backingUp = false;
    }
  });
  await makeOwn(directory);
  const socket = controlSocket(directory);
  // One that a killed process has left.
  await rm(socket, { force: true });
  try {
    await listen(server, socket);
    await chmod(socket, 0o600);
  } catch (error) {
    log.warn({ err: error }, 'npm run backup cannot reach this process: it needs the service to be stopped');
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listen = (server: Server, path: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve);
  });
