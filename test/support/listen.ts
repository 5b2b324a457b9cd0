import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Test } from 'tap';

/** Starts a server on a free port, and returns the port. The server stops when the test ends. */
export async function listen(t: Test, server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
