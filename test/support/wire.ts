import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';

/** Opens a connection for bytes that no HTTP client would send. It is closed when the test ends. */
export function openConnection(t: Test, url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  t.teardown(() => socket.destroy());
  return {
    socket,
    /** Returns the bytes received so far, as Latin-1. */
    received: () => received,
    /** Waits until the received bytes match. Throws if the connection is closed before. */
    async until(pattern: RegExp) {
      while (!pattern.test(received)) {
        if (socket.closed) throw new Error(`The connection was closed before ${pattern} matched: ${received}`);
        await sleep(5);
      }
    },
    /** Resolves when the connection is closed, for any reason. */
    closed,
  };
}

/** Returns the server's socket of the next connection that a server in this process accepts. */
export const nextAcceptedSocket = () =>
  new Promise<Socket>((resolve) => {
    const listener = (message: unknown) => {
      unsubscribe('net.server.socket', listener);
      resolve((message as { socket: Socket }).socket);
    };
    subscribe('net.server.socket', listener);
  });

/** Sends bytes over a new connection, and returns the bytes received until it is closed, as Latin-1. */
export async function writeBytes(t: Test, url: string, bytes: string): Promise<string> {
  const { socket, received, closed } = openConnection(t, url);
  socket.write(bytes);
  await closed;
  return received();
}
