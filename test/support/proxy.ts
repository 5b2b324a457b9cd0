import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/**
 * - `pass`: forwards every byte.
 * - `refuse`: closes connections and stops listening, like a stopped server.
 * - `reset`: resets existing and new connections.
 * - `silent`: keeps connections open, accepts new ones and forwards nothing, as when packets are dropped. A connection
 *   stays silent even after the mode changes.
 */
export type Mode = 'pass' | 'refuse' | 'reset' | 'silent';

export interface Proxy {
  /** The target's URL through the proxy. */
  url: string;
  setMode(mode: Mode): Promise<void>;
  /** Forwards the next request that contains this text, and resets its connection in place of the response. */
  cutResponseTo(text: string): Promise<void>;
}

/** Starts a TCP proxy to the store at this URL, which must include a port. The proxy stops when the test ends. */
export async function startProxy(t: Test, target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  if (port === '') throw new Error('the URL has no port');
  const openSockets = new Set<Socket>();
  let mode: Mode = 'pass';
  let cut: { text: string; done(): void } | undefined;

  const track = (socket: Socket) => {
    openSockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => openSockets.delete(socket));
  };

  const server = createServer((client) => {
    track(client);
    if (mode === 'reset') client.resetAndDestroy();
    if (mode !== 'pass') return;
    const upstream = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    track(upstream);
    client.on('data', (data) => {
      if (!cut || !data.includes(cut.text)) return;
      const { done } = cut;
      cut = undefined;
      upstream.unpipe(client).resume();
      upstream.once('data', () => {
        client.resetAndDestroy();
        done();
      });
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.pipe(other);
      one.once('close', () => other.destroy());
    }
  });

  async function listen(at: number): Promise<void> {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  }

  async function stop(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of openSockets) socket.destroy();
    await closed;
  }

  await listen(0);
  const ownPort = (server.address() as AddressInfo).port;
  t.teardown(stop);
  const url = new URL(target);
  url.host = `127.0.0.1:${ownPort}`;

  return {
    url: url.href,
    cutResponseTo: (text) =>
      new Promise((done) => {
        cut = { text, done };
      }),
    async setMode(next) {
      mode = next;
      if (next === 'refuse') return stop();
      if (!server.listening) await listen(ownPort);
      if (next === 'reset') for (const socket of openSockets) socket.resetAndDestroy();
      if (next === 'silent') for (const socket of openSockets) socket.unpipe().pause();
    },
  };
}
