import type { FastifyInstance } from 'fastify';

/** Starts a server, prints its URL in the format of the service, and stops it on SIGTERM. */
export async function listen(server: FastifyInstance): Promise<void> {
  process.once('SIGTERM', () => {
    server.server.closeAllConnections();
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  console.log(`  API         ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
}
