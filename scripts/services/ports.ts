import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below what Linux and macOS give to outgoing connections, so that nothing takes a port while its server is stopped.
 */
const LOWEST = 20_000;
const HIGHEST = 32_767;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isFree(port)) return port;
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
