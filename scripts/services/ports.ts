import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux and macOS, so that no outgoing connection takes the port of a stopped server. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;

/** The ports that `findFreePort` has examined. It skips them, because a returned port is free until a server uses it. */
const examined = new Set<number>();

/** Returns a random port that is not in use. Never returns a port twice. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (examined.has(port)) continue;
    examined.add(port);
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
