import { on, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** Bolt messages as single chunks: length, structure without fields, tag, end marker. */
const COMMIT = Buffer.from([0, 2, 0xb0, 0x12, 0, 0]);
const RESET = Buffer.from([0, 2, 0xb0, 0x0f, 0, 0]);

export type Fault =
  /** New connections are closed. */
  | 'refusal'
  /** No byte passes in either direction, and connections stay open. */
  | 'silence'
  /** The client's bytes are held back until `deliverDelayed`, except its RESET, which is dropped. */
  | 'delay';

export interface BoltProxy {
  uri: string;
  /** Applies a fault to all existing connections. */
  setFault(fault: Fault): void;
  /** The fault of future connections. */
  newConnectionFault: Fault | undefined;
  /** Commits the next transaction that contains this text, but closes its connection before the response. */
  cutCommitOf: string | undefined;
  /** The number of committed transactions. */
  commits: number;
  /** Sends the delayed bytes, and waits until the server has committed them. */
  deliverDelayed(): Promise<void>;
}

interface Link {
  client: Socket;
  server: Socket;
  fault: Fault | undefined;
  said: string;
  late: Buffer[];
}

/** Starts a proxy to the test server that can inject faults. */
export async function openBoltProxy(t: Test, target: string): Promise<BoltProxy> {
  const { hostname, port } = new URL(target);
  const links: Link[] = [];

  const listener = createServer((client) => {
    const server = connect(Number(port || 7687), hostname);
    const link: Link = { client, server, fault: proxy.newConnectionFault, said: '', late: [] };
    links.push(link);
    if (link.fault === 'refusal') client.destroy();
    client.on('error', () => undefined).on('close', () => link.fault ?? server.end());
    server.on('error', () => undefined).on('close', () => client.destroy());
    server.on('data', (data) => link.fault ?? client.write(data));
    client.on('data', (data) => {
      if (link.fault === 'delay' && !data.includes(RESET)) link.late.push(data);
      if (link.fault) return;
      server.write(data);
      link.said += data.toString('latin1');
      if (!data.includes(COMMIT)) return;
      proxy.commits += 1;
      if (proxy.cutCommitOf && link.said.includes(proxy.cutCommitOf)) {
        proxy.cutCommitOf = undefined;
        client.destroy();
      }
      link.said = '';
    });
  });
  t.teardown(() => {
    listener.close();
    for (const { client, server } of links) {
      client.destroy();
      server.destroy();
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const proxy: BoltProxy = {
    uri: `bolt://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    newConnectionFault: undefined,
    cutCommitOf: undefined,
    commits: 0,
    setFault(fault) {
      for (const link of links) link.fault = fault;
    },
    async deliverDelayed() {
      for (const { server, late: delayed } of links) {
        if (delayed.length === 0) continue;
        server.write(Buffer.concat([...delayed, COMMIT]));
        for await (const [data] of on(server, 'data')) if (data.includes('bookmark')) break;
      }
    },
  };
  return proxy;
}
