import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A fault between clients and the server. */
type Fault =
  /** All bytes pass. */
  | 'none'
  /** The port is closed, and open connections are reset. */
  | 'refused'
  /** Connections are accepted and kept open, and no byte passes. */
  | 'silent'
  /** Existing connections become silent; new ones work. */
  | 'half-open'
  /** Each connection is reset or becomes silent after this many bytes from the server. */
  | { afterBytes: number; how: 'reset' | 'silence' };

interface FaultyProxy {
  port: number;
  /** The number of connections made so far. */
  connections: number;
  /** The number of open connections. */
  readonly open: number;
  /** The bytes that clients have sent, as Latin-1. Tests may reset it. */
  sent: string;
  setFault(fault: Fault): Promise<void>;
}

/** Starts a proxy to the server at this address, which can inject faults. It stops when the test ends. */
export async function startFaultyProxy(
  t: Test,
  { hostname, port }: { hostname: string; port: string },
): Promise<FaultyProxy> {
  const pairs = new Set<{ client: Socket; server: Socket; silent: boolean }>();
  let fault: Fault = 'none';
  let listener: Server | undefined;

  function accept(client: Socket): void {
    proxy.connections += 1;
    const server = connect(Number(port), hostname);
    const pair = { client, server, silent: false };
    pairs.add(pair);
    let forwardedBytes = 0;
    client.on('data', (bytes) => {
      proxy.sent += bytes.toString('latin1');
      if (!isSilent()) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isSilent()) return;
      if (typeof fault === 'object' && forwardedBytes + bytes.length > fault.afterBytes) {
        client.write(bytes.subarray(0, Math.max(0, fault.afterBytes - forwardedBytes)));
        if (fault.how === 'silence') pair.silent = true;
        // A reset would discard the bytes that were just written.
        else setImmediate(() => client.resetAndDestroy());
      } else {
        client.write(bytes);
      }
      forwardedBytes += bytes.length;
    });
    const isSilent = () => pair.silent || fault === 'silent';
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      pairs.delete(pair);
      server.destroy();
    });
    // Bytes that the server sent before closing must still arrive.
    server.on('close', () => {
      if (!isSilent()) client.destroySoon();
    });
  }

  async function listen(at: number): Promise<number> {
    listener = createServer(accept).listen(at, '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  }

  const reset = () => {
    for (const { client } of pairs) client.resetAndDestroy();
  };

  const ownPort = await listen(0);
  t.teardown(() => {
    listener?.close();
    reset();
  });

  const proxy: FaultyProxy = {
    port: ownPort,
    connections: 0,
    get open() {
      return pairs.size;
    },
    sent: '',
    async setFault(next) {
      fault = next;
      if (next === 'half-open') for (const pair of pairs) pair.silent = true;
      if (next === 'refused') {
        listener?.close();
        listener = undefined;
        reset();
      } else if (!listener) {
        await listen(ownPort);
      }
    },
  };
  return proxy;
}
