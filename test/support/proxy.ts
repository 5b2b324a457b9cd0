import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/**
 * - `pass`: every byte gets through.
 * - `refuse`: connections end, and nobody listens: as when the server is stopped.
 * - `reset`: connections are reset, and so is every new one.
 * - `silent`: connections stay open, new ones are taken, and no byte gets through, one way or the other: as when packets
 *   are dropped. What was silent once stays so, though new connections may pass again: nothing tells its ends.
 */
export type Mode = 'pass' | 'refuse' | 'reset' | 'silent';

export interface Proxy {
  /** The target's URL, by way of the proxy. */
  url: string;
  switch(mode: Mode): Promise<void>;
  /** The next time that a client says this, the target hears it and does it, and the connection is reset instead of its answer. */
  cutAnswerTo(words: string): Promise<void>;
}

/** A TCP proxy before the store at this URL, which has to name its port. It ends with the test. */
export async function startProxy(t: Test, target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  if (port === '') throw new Error('the URL names no port');
  const open = new Set<Socket>();
  let mode: Mode = 'pass';
  let cut: { words: string; done(): void } | undefined;

  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  };

  const server = createServer((client) => {
    keep(client);
    if (mode === 'reset') client.resetAndDestroy();
    if (mode !== 'pass') return;
    const upstream = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    keep(upstream);
    client.on('data', (data) => {
      if (!cut || !data.includes(cut.words)) return;
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

  async function end(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  }

  await listen(0);
  const own = (server.address() as AddressInfo).port;
  t.teardown(end);
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;

  return {
    url: url.href,
    cutAnswerTo: (words) =>
      new Promise((done) => {
        cut = { words, done };
      }),
    async switch(next) {
      mode = next;
      if (next === 'refuse') return end();
      if (!server.listening) await listen(own);
      if (next === 'reset') for (const socket of open) socket.resetAndDestroy();
      if (next === 'silent') for (const socket of open) socket.unpipe().pause();
    },
  };
}
