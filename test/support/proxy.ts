import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { until } from './until.js';

/** A fault of the network, or of the server behind the proxy. */
export type Fault =
  | 'none'
  /** Connections are closed and the port too, as when the server is stopped. */
  | 'refuse'
  /** Existing and new connections are reset. */
  | 'reset'
  /** Existing and new connections stay open and become silent: no byte passes, as when a cable is cut. */
  | 'silence'
  /** Existing connections become silent. New ones work. */
  | 'half-open'
  /** Requests pass, responses are lost. */
  | 'lose-responses'
  /** The requests of existing connections are held back in `Connection.held`. New connections work. */
  | 'hold-requests'
  /** Each response is delayed. */
  | { latencyMs: number; afterBytes?: never; how?: never }
  /** A connection is reset or becomes silent after this many bytes of responses. A client may see the reset as a normal end. */
  | { afterBytes: number; how: 'reset' | 'silence'; latencyMs?: never };

/** A connection between a client and the server. */
interface Connection {
  client: Socket;
  server: Socket;
  /** A silent connection stays silent under later faults, until `heal` closes it. */
  isSilent: boolean;
  losesResponses: boolean;
  /** The bytes of the requests that were held back, or undefined if requests pass. */
  held: Buffer[] | undefined;
  receivedBytes: number;
  /** What the client has sent since `cutResponseTo` was called, as Latin-1. */
  sent: string;
  /** Resolves when all responses received so far have been forwarded to the client. */
  written: Promise<void>;
}

export interface FaultyProxy {
  /** The target's URL through the proxy. */
  readonly url: string;
  /** All connections so far. */
  readonly connections: readonly Connection[];
  /** The number of open connections. */
  readonly openCount: number;
  /** The bytes that clients have sent, as Latin-1. Tests may reset it. */
  sent: string;
  /** Sets the fault, in place of the one before. */
  setFault(fault: Fault): Promise<void>;
  /** Ends the fault, and closes the connections that have lost bytes. */
  heal(): Promise<void>;
  /**
   * Forwards the next request that contains `text`, on a connection that has sent `other` since the call, and resets the
   * connection in place of the response. Resolves after the reset.
   */
  cutResponseTo(text: string, other?: string): Promise<void>;
}

/** Starts a TCP proxy that can inject faults, in front of the server at this URL. The proxy stops when the test ends. */
export async function startProxy(t: Test, target: string, defaultPort = ''): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const targetPort = Number(port || defaultPort);
  if (targetPort === 0) throw new Error('the URL has no port');
  const connections: Connection[] = [];
  let fault: Fault = 'none';
  let cut: { text: string; other: string; done(): void } | undefined;
  let listener: Server | undefined;

  function accept(client: Socket): void {
    client.on('error', () => undefined);
    if (fault === 'reset') return void client.resetAndDestroy();
    const server = connect(targetPort, hostname.replace(/^\[|\]$/g, '')).on('error', () => undefined);
    const connection: Connection = {
      client,
      server,
      isSilent: fault === 'silence',
      losesResponses: fault === 'lose-responses',
      held: undefined,
      receivedBytes: 0,
      sent: '',
      written: Promise.resolve(),
    };
    connections.push(connection);
    client.on('data', (bytes) => forwardRequest(connection, bytes));
    server.on('data', (bytes) => forwardResponse(connection, bytes));
    client.on('close', () => {
      // Requests that were sent before the end must still arrive. A test may send held requests later.
      if (!connection.held) server.destroySoon();
    });
    server.on('close', async () => {
      await connection.written;
      if (!connection.isSilent && !connection.losesResponses) client.destroySoon();
    });
  }

  function forwardRequest(connection: Connection, bytes: Buffer): void {
    const text = bytes.toString('latin1');
    proxy.sent += text;
    if (connection.isSilent) return;
    if (connection.held) return void connection.held.push(bytes);
    if (cut) connection.sent += text;
    connection.server.write(bytes);
    if (!cut || !text.includes(cut.text) || !connection.sent.includes(cut.other)) return;
    const { done } = cut;
    cut = undefined;
    connection.losesResponses = true;
    connection.server.once('data', () => {
      connection.client.resetAndDestroy();
      done();
    });
  }

  function forwardResponse(connection: Connection, bytes: Buffer): void {
    if (connection.isSilent || connection.losesResponses) return;
    const { client } = connection;
    const {
      latencyMs = 0,
      afterBytes = Number.POSITIVE_INFINITY,
      how = undefined,
    } = typeof fault === 'object' ? fault : {};
    const dueAt = performance.now() + latencyMs;
    const part = bytes.subarray(0, Math.max(0, afterBytes - connection.receivedBytes));
    connection.receivedBytes += bytes.length;
    connection.written = connection.written.then(async () => {
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      client.write(part);
      // A reset would discard the bytes that were just written.
      if (part.length < bytes.length && how === 'reset') setImmediate(() => client.resetAndDestroy());
    });
    if (part.length < bytes.length && how === 'silence') connection.isSilent = true;
  }

  async function listen(at: number): Promise<number> {
    const server = createServer(accept).listen(at, '127.0.0.1');
    await once(server, 'listening');
    listener = server;
    return (server.address() as AddressInfo).port;
  }

  function stopListening(): void {
    listener?.close();
    listener = undefined;
  }

  const ownPort = await listen(0);
  t.teardown(() => {
    stopListening();
    for (const { client, server } of connections) for (const socket of [client, server]) socket.destroy();
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${ownPort}`;

  const proxy: FaultyProxy = {
    url: url.href,
    connections,
    get openCount() {
      return connections.filter(({ client }) => !client.destroyed).length;
    },
    sent: '',
    async setFault(next) {
      fault = next;
      for (const connection of connections) {
        // A protocol cannot continue after lost bytes.
        if (next === 'silence' || next === 'half-open' || connection.losesResponses) connection.isSilent = true;
        if (next === 'lose-responses') connection.losesResponses = true;
        if (next === 'hold-requests') connection.held = [];
        if (next === 'refuse' && !connection.isSilent) connection.client.destroy();
        if (next === 'reset' && !connection.isSilent) connection.client.resetAndDestroy();
      }
      if (next === 'refuse') stopListening();
      // While the port was closed, the system may have assigned it to an outgoing connection of another program.
      else if (!listener) await until(async () => listen(ownPort).then(Boolean, () => false));
    },
    async heal() {
      await proxy.setFault('none');
      for (const { client, isSilent } of connections) if (isSilent) client.destroy();
    },
    cutResponseTo(text, other = '') {
      for (const connection of connections) connection.sent = '';
      return new Promise((done) => {
        cut = { text, other, done };
      });
    },
  };
  return proxy;
}
