import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, createAddressSet, includesAddress } from '../addresses.js';
import { currentResponseOf } from './pipelining.js';

/*
 * Connection limits: one for the process, and a lower one for each address.
 *
 * When a new connection exceeds a limit, an idle connection is closed to make room for it. Idle connections therefore
 * cannot lock clients out. The new connection is refused only if all others are in use. A connection is idle while it has
 * no request in progress, even if it has sent a part of a request's headers.
 *
 * The idle connection is selected with the second-chance algorithm (also known as CLOCK). Connections are in a queue. The
 * first one is examined. If it is idle and has not been used since it was last examined, it is closed; otherwise it moves to
 * the end of the queue, and the next one is examined. Unlike a list in order of last use, the queue is updated only when a new
 * connection exceeds a limit, and not for every request.
 */

const MAX_CONNECTIONS = 10_000;

/** The share of the process's file descriptors that connections may use. The rest is for stores, images and uploads. */
const FILE_DESCRIPTOR_SHARE = 0.75;

/** The share of the connections that one address may have, unless it is a trusted proxy. */
const ADDRESS_SHARE = 0.25;

interface ConnectionLimits {
  max: number;
  maxPerAddress: number;
}

interface Connections {
  readonly open: ReadonlySet<Socket>;
  /** The numbers of connections that were closed to make room, and that were refused because no other was idle. */
  readonly counts: { readonly evicted: number; readonly refused: number };
}

/** Computes the limits from the number of files that the process may open. */
export async function readConnectionLimits(): Promise<ConnectionLimits> {
  const max = Math.min(MAX_CONNECTIONS, Math.floor((await readMaxOpenFiles()) * FILE_DESCRIPTOR_SHARE));
  return { max, maxPerAddress: Math.ceil(max * ADDRESS_SHARE) };
}

/** Returns the soft limit. Only Linux has this file; elsewhere, `MAX_CONNECTIONS` applies. */
async function readMaxOpenFiles(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/**
 * Limits the connections of a server.
 *
 * @param trustProxy addresses and CIDR ranges to which only the limit of the process applies
 */
export function limitConnections(
  server: Server,
  { max, maxPerAddress }: ConnectionLimits,
  trustProxy: readonly string[],
): Connections {
  const open = new Set<Socket>();
  const byAddress = new Map<string, Set<Socket>>();
  /** The `addressKey` of each connection. Stored, because a closed socket may have no address. */
  const addressKeys = new WeakMap<Socket, string>();
  /** `bytesWritten` of each connection when it was last examined. It has changed if the connection was used since then. */
  const examinedBytes = new WeakMap<Socket, number>();
  const proxies = createAddressSet(trustProxy);
  const counts = { evicted: 0, refused: 0 };

  /**
   * Closes the first connection in the queue that is idle and has not been used since it was last examined. Returns
   * whether there was such a connection.
   */
  function evictIdle(queue: Set<Socket>): boolean {
    // Two rounds: in the first one, connections that were used get their second chance.
    for (let steps = 2 * queue.size; steps > 0; steps -= 1) {
      const [socket] = queue;
      if (!socket) return false;
      if (!currentResponseOf(socket) && examinedBytes.get(socket) === socket.bytesWritten) {
        forget(socket);
        socket.destroy();
        return true;
      }
      examinedBytes.set(socket, socket.bytesWritten);
      queue.delete(socket);
      queue.add(socket);
    }
    return false;
  }

  /** Closes an idle connection if the queue is full. Returns whether there is room for a new one. */
  function makeRoom(queue: Set<Socket>, limit: number): boolean {
    if (queue.size < limit) return true;
    if (!evictIdle(queue)) return false;
    counts.evicted += 1;
    return true;
  }

  function forget(socket: Socket): void {
    open.delete(socket);
    const address = addressKeys.get(socket) ?? '';
    const peers = byAddress.get(address);
    peers?.delete(socket);
    if (peers?.size === 0) byAddress.delete(address);
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    // The address is undefined if the client has already reset the connection. The socket is destroyed if
    // throttled-connections.ts has refused the connection.
    if (remoteAddress === undefined || socket.destroyed) return socket.destroy();
    const address = addressKey(remoteAddress);
    const peers = byAddress.get(address) ?? new Set();
    const limit = includesAddress(proxies, remoteAddress) ? max : maxPerAddress;
    if (!makeRoom(peers, limit) || !makeRoom(open, max)) {
      counts.refused += 1;
      return socket.destroy();
    }
    examinedBytes.set(socket, 0);
    addressKeys.set(socket, address);
    open.add(socket);
    byAddress.set(address, peers.add(socket));
    socket.once('close', () => forget(socket));
    return undefined;
  });

  return { open, counts };
}
