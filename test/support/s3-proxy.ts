import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

/** What happens to the bytes between a client and a server. */
type Fault =
  /** None: they pass. */
  | 'none'
  /** Nobody listens, and what was connected is reset. */
  | 'refused'
  /** Connections are taken and kept, and nothing passes any more. */
  | 'silent'
  /** Those that are connected now go silent; new ones are fine. */
  | 'half-open'
  /** After this many bytes of an answer the connection is reset, or goes silent. */
  | { answered: number; how: 'reset' | 'silence' };

export interface FaultyProxy {
  port: number;
  /** All connections that were made so far. */
  connections: number;
  /** How many of them are open. */
  readonly open: number;
  /** What clients have sent, unless a test has emptied it. */
  sent: string;
  set(fault: Fault): Promise<void>;
}

/** Stands between a client and a server at this address, and does them harm when told to. */
export async function startProxy(
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
    let answered = 0;
    client.on('data', (bytes) => {
      proxy.sent += bytes.toString('latin1');
      if (!isSilent()) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isSilent()) return;
      if (typeof fault === 'object' && answered + bytes.length > fault.answered) {
        client.write(bytes.subarray(0, Math.max(0, fault.answered - answered)));
        if (fault.how === 'silence') pair.silent = true;
        // What was written before has to arrive: a reset would overtake it.
        else setImmediate(() => client.resetAndDestroy());
      } else {
        client.write(bytes);
      }
      answered += bytes.length;
    });
    const isSilent = () => pair.silent || fault === 'silent';
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      pairs.delete(pair);
      server.destroy();
    });
    // What the server has sent before it closed still has to arrive.
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
    async set(next) {
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
