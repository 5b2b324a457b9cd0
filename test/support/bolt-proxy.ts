import { on } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { listen } from './listen.js';

/** Bolt messages as single chunks: length, structure without fields, tag, end marker. */
const COMMIT = Buffer.from([0, 2, 0xb0, 0x12, 0, 0]);
const RESET = Buffer.from([0, 2, 0xb0, 0x0f, 0, 0]);

type Fault =
  /** New connections are closed. */
  | 'refusal'
  /** No byte passes in either direction, and connections stay open. */
  | 'silence'
  /** The client's bytes are held back until `deliverDelayed`, except its RESET, which is dropped. */
  | 'delay';

interface BoltProxy {
  uri: string;
  /** Applies a fault to all existing connections. */
  setFault(fault: Fault): void;
  /** The fault of future connections. */
  newConnectionFault: Fault | undefined;
  /** The next transaction that contains this text is committed, but its connection is closed before the response. */
  cutCommitOf: string | undefined;
  /** The number of forwarded commits. Tests may reset it. */
  commits: number;
  /** Sends the delayed bytes and a commit on each connection, and waits until the server has committed them. */
  deliverDelayed(): Promise<void>;
}

interface Link {
  client: Socket;
  server: Socket;
  fault: Fault | undefined;
  /** The bytes that the client has sent since its last commit, as Latin-1. */
  sent: string;
  delayed: Buffer[];
}

/** Starts a proxy to a Neo4j server, which can inject faults. It stops when the test ends. */
export async function openBoltProxy(t: Test, target: string): Promise<BoltProxy> {
  const { hostname, port } = new URL(target);
  const links: Link[] = [];

  const listener = createServer((client) => {
    const server = connect(Number(port || 7687), hostname);
    const link: Link = { client, server, fault: proxy.newConnectionFault, sent: '', delayed: [] };
    links.push(link);
    if (link.fault === 'refusal') client.destroy();
    client.on('error', () => undefined).on('close', () => link.fault ?? server.end());
    server.on('error', () => undefined).on('close', () => client.destroy());
    server.on('data', (data) => link.fault ?? client.write(data));
    client.on('data', (data) => {
      if (link.fault === 'delay' && !data.includes(RESET)) link.delayed.push(data);
      if (link.fault) return;
      server.write(data);
      link.sent += data.toString('latin1');
      if (!data.includes(COMMIT)) return;
      proxy.commits += 1;
      if (proxy.cutCommitOf && link.sent.includes(proxy.cutCommitOf)) {
        proxy.cutCommitOf = undefined;
        client.destroy();
      }
      link.sent = '';
    });
  });
  t.teardown(() => {
    for (const { client, server } of links) {
      client.destroy();
      server.destroy();
    }
  });

  const proxy: BoltProxy = {
    uri: `bolt://127.0.0.1:${await listen(t, listener)}`,
    newConnectionFault: undefined,
    cutCommitOf: undefined,
    commits: 0,
    setFault(fault) {
      for (const link of links) link.fault = fault;
    },
    async deliverDelayed() {
      for (const { server, delayed } of links) {
        if (delayed.length === 0) continue;
        server.write(Buffer.concat([...delayed, COMMIT]));
        for await (const [data] of on(server, 'data')) if (data.includes('bookmark')) break;
      }
    },
  };
  return proxy;
}
