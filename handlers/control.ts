import { chmod, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { makePrivateDirectory } from '../db/support/data-directory.js';
import { OverloadedError, StoreUnavailableError } from '../db/support/errors.js';
import { type AccountRoutes, accountRoutes } from './admin/accounts.js';
import { type AdminContext, streamFile } from './admin/action.js';
import { type LogRoutes, logRoutes } from './admin/log.js';
import { type PostRoutes, postRoutes } from './admin/posts.js';

/*
 * The control server, to which `npm run backup` and `npm run admin` send their work. In the process that has claimed the data
 * directory, it listens on a Unix socket. There is no authentication: only its owner can enter the directory of the socket. If no
 * service runs, the command builds a server that does not listen, and injects its request.
 */

/** The bodies and responses of the actions of the operator, by their paths below `/admin`. */
export type AdminRoutes = AccountRoutes & PostRoutes & LogRoutes;

/** Node 20 truncates a longer path, which would create the socket outside its private directory. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** A client that reads nothing for this long is disconnected, because a backup delays checkpoints and the removal of images. */
const IDLE_TIMEOUT_MS = 60_000;

/** What the control server does for commands. */
export interface ControlledWork {
  backup?: () => AsyncGenerator<Uint8Array>;
  admin?: AdminContext;
}

/**
 * Builds the control server. The body of an error is `{message}`. The status is 409 while another backup is in progress.
 */
export function buildControlServer(
  { backup, admin }: ControlledWork,
  log: FastifyBaseLogger,
  { idleTimeoutMs = IDLE_TIMEOUT_MS } = {},
): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    connectionTimeout: idleTimeoutMs,
    // A shutdown waits neither for a backup nor for idle clients.
    forceCloseConnections: true,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
    schemaErrorFormatter: ([error]) =>
      new Error([error?.instancePath.slice(1), error?.message, error?.params.additionalProperty].join(' ').trim()),
  });
  // Without this listener, Node would also disconnect a client that waits for this service.
  app.server.on('timeout', (socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  app.setErrorHandler((error: FastifyError, { url, log }, reply) => {
    const isUnavailable = error instanceof StoreUnavailableError || error instanceof OverloadedError;
    const { statusCode = isUnavailable ? 503 : 500, message } = error;
    if (statusCode === 500) log.error({ err: error }, `${url} failed`);
    return reply
      .code(statusCode)
      .send({ message: statusCode === 500 ? 'An unexpected error occurred: see the log' : message });
  });
  if (backup) addBackupRoute(app, backup);
  if (admin) {
    app.register(accountRoutes, { ...admin, prefix: '/admin' });
    app.register(postRoutes, { ...admin, prefix: '/admin' });
    app.register(logRoutes, { ...admin, prefix: '/admin' });
  }
  return app;
}

function addBackupRoute(app: FastifyInstance, backup: () => AsyncGenerator<Uint8Array>): void {
  let isBackingUp = false;
  app.post('/backup', async (request, reply) => {
    if (isBackingUp) return reply.code(409).send({ message: 'Another backup is in progress: try again later' });
    isBackingUp = true;
    return streamFile(backup(), request).once('close', () => {
      isBackingUp = false;
    });
  });
}

/** Listens on the socket in a directory that only its owner can enter. Logs a warning if that fails. */
export async function listenOnSocket(app: FastifyInstance, directory: string): Promise<void> {
  const path = controlSocketPath(directory);
  try {
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) throw new Error(`${path} is too long for a socket`);
    await makePrivateDirectory(directory);
    // A process that was killed leaves its socket file behind.
    await rm(path, { force: true });
    await app.listen({ path });
    // Without a listener, a failed `accept` would end the process.
    app.server.on('error', (err) => app.log.warn({ err }, 'control socket failed'));
    await chmod(path, 0o600);
  } catch (err) {
    app.log.warn({ err }, 'control socket unavailable: stop the service before running npm run backup');
  }
}

/**
 * Returns the path of the socket. It is relative if that is shorter, because a path of about 100 bytes is too long for a
 * socket.
 */
export function controlSocketPath(directory: string): string {
  const absolute = join(directory, 'socket');
  const fromCwd = relative(process.cwd(), absolute);
  return fromCwd.length < absolute.length ? fromCwd : absolute;
}
