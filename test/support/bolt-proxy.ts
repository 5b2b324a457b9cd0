import { on, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** Messages of Bolt, as one chunk each: the length, a structure without fields, its tag, the end. */
const COMMIT = Buffer.from([0, 2, 0xb0, 0x12, 0, 0]);
const RESET = Buffer.from([0, 2, 0xb0, 0x0f, 0, 0]);

export type Fault =
  /** Whoever connects is turned away. */
  | 'refusal'
  /** Nothing gets through any more, in either direction, and nobody is told. */
  | 'silence'
  /** What the client says is late, and it is gone before it can take anything back. */
  | 'delay';

export interface BoltProxy {
  uri: string;
  /** The fault of the connections there are. */
  strike(fault: Fault): void;
  /** The fault of connections yet to come. */
  next: Fault | undefined;
  /** The next transaction that says this is committed, but its connection is cut before the answer. */
  cutCommitOf: string | undefined;
  /** How many transactions were committed. */
  commits: number;
  /** Lets what is late arrive, and waits until the server has committed it. */
  deliver(): Promise<void>;
}

interface Line {
  client: Socket;
  server: Socket;
  fault: Fault | undefined;
  said: string;
  late: Buffer[];
}

/** A way to the server of the tests that can be disturbed. */
export async function openBoltProxy(t: Test, target: string): Promise<BoltProxy> {
  const { hostname, port } = new URL(target);
  const lines: Line[] = [];

  const listener = createServer((client) => {
    const server = connect(Number(port || 7687), hostname);
    const line: Line = { client, server, fault: proxy.next, said: '', late: [] };
    lines.push(line);
    if (line.fault === 'refusal') client.destroy();
    client.on('error', () => undefined).on('close', () => line.fault ?? server.end());
    server.on('error', () => undefined).on('close', () => client.destroy());
    server.on('data', (data) => line.fault ?? client.write(data));
    client.on('data', (data) => {
      if (line.fault === 'delay' && !data.includes(RESET)) line.late.push(data);
      if (line.fault) return;
      server.write(data);
      line.said += data.toString('latin1');
      if (!data.includes(COMMIT)) return;
      proxy.commits += 1;
      if (proxy.cutCommitOf && line.said.includes(proxy.cutCommitOf)) {
        proxy.cutCommitOf = undefined;
        client.destroy();
      }
      line.said = '';
    });
  });
  t.teardown(() => {
    listener.close();
    for (const { client, server } of lines) {
      client.destroy();
      server.destroy();
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const proxy: BoltProxy = {
    uri: `bolt://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    next: undefined,
    cutCommitOf: undefined,
    commits: 0,
    strike(fault) {
      for (const line of lines) line.fault = fault;
    },
    async deliver() {
      for (const { server, late } of lines) {
        if (late.length === 0) continue;
        server.write(Buffer.concat([...late, COMMIT]));
        for await (const [answer] of on(server, 'data')) if (answer.includes('bookmark')) break;
      }
    },
  };
  return proxy;
}
