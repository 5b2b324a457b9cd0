import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The maximum number of open connections. Those of one address are limited by a proxy. */
const MAX_CONNECTIONS = 10_000;

/** Makes Node close connections beyond the maximum. Returns the open ones. */
export function limitConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}
