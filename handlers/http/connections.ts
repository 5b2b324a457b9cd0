import { readFile } from 'node:fs/promises';
import type { Server, ServerResponse } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';

/*
 * Connection limits: one for the process and a lower one for each address. A new connection beyond a limit replaces the one
 * that has been idle longest, so that idle sockets cannot lock clients out; it is refused only if all are in use. A connection
 * is idle while it has no request in progress, even if it has sent half of a request head.
 *
 * Idle connections are closed in the order of the second-chance page replacement algorithm (CLOCK): a connection that has been
 * used since it was last examined moves to the end of the queue. Requests therefore have no bookkeeping cost; only a new
 * connection at the limit does.
 */

const MAX_CONNECTIONS = 10_000;

/** The share of the file descriptor limit for connections. The rest is for stores, images and uploads. */
const FILE_DESCRIPTOR_SHARE = 0.75;

/** The share of all connections that one address may have, unless it is a trusted proxy. */
const ADDRESS_SHARE = 0.25;

export interface ConnectionLimits {
  max: number;
  maxPerAddress: number;
}

export interface Connections {
  /** The open connections. */
  readonly open: ReadonlySet<Socket>;
  /** Connections closed to make room, and connections refused because none was idle. */
  readonly counts: { readonly evicted: number; readonly refused: number };
}

/** Node's private reference from a socket to the response it is assigned to. */
interface SocketWithResponse {
  _httpMessage?: ServerResponse | null;
}

/** Computes the limits from the number of files that the process may open. */
export async function readConnectionLimits(): Promise<ConnectionLimits> {
  const max = Math.min(MAX_CONNECTIONS, Math.floor((await readMaxOpenFiles()) * FILE_DESCRIPTOR_SHARE));
  return { max, maxPerAddress: Math.ceil(max * ADDRESS_SHARE) };
}

/** Returns the number of files that this process may open. */
export async function readMaxOpenFiles(): Promise<number> {
  // Only Linux has this file. The diagnostic report works everywhere, but takes longer.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => undefined);
  const softLimit = limits === undefined ? readReportedFileLimit() : /^Max open files +(\S+)/m.exec(limits)?.[1];
  return Number.isFinite(Number(softLimit)) ? Number(softLimit) : Number.POSITIVE_INFINITY;
}

function readReportedFileLimit(): unknown {
  // Otherwise the report would resolve the host names of all connections.
  const report = Object.assign(process.report, { excludeNetwork: true });
  return (report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }).userLimits?.open_files?.soft;
}

/**
 * Limits the connections of a server.
 *
 * @param trustProxy addresses and CIDR ranges to which only the process-wide limit applies
 */
export function limitConnections(
  server: Server,
  { max, maxPerAddress }: ConnectionLimits,
  trustProxy: readonly string[],
): Connections {
  const open = new Set<Socket>();
  const byAddress = new Map<string, Set<Socket>>();
  /** The bytes that each connection had been sent when it was last examined. */
  const bytesSeen = new WeakMap<Socket, number>();
  const proxies = blockListOf(trustProxy);
  const counts = { evicted: 0, refused: 0 };

  /** Closes the first connection in the queue that is idle and unused since it was last examined. Returns whether one was. */
  function evictIdle(queue: Set<Socket>): boolean {
    // Two rounds: connections that were used get their second chance in the first one.
    for (let steps = 2 * queue.size; steps > 0; steps -= 1) {
      const [socket] = queue as Iterable<Socket & SocketWithResponse>;
      if (!socket) return false;
      if (!socket._httpMessage && bytesSeen.get(socket) === socket.bytesWritten) {
        forget(socket);
        socket.destroy();
        return true;
      }
      bytesSeen.set(socket, socket.bytesWritten);
      queue.delete(socket);
      queue.add(socket);
    }
    return false;
  }

  /** Returns whether there is room for a connection, after closing an idle one if necessary. */
  function makeRoom(queue: Set<Socket>, limit: number): boolean {
    if (queue.size < limit) return true;
    if (!evictIdle(queue)) return false;
    counts.evicted += 1;
    return true;
  }

  const addresses = new WeakMap<Socket, string>();

  function forget(socket: Socket): void {
    open.delete(socket);
    const address = addresses.get(socket) ?? '';
    const peers = byAddress.get(address);
    peers?.delete(socket);
    if (peers?.size === 0) byAddress.delete(address);
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    // The client has already reset the connection.
    if (remoteAddress === undefined) return socket.destroy();
    const address = normalizeIP(remoteAddress);
    const peers = byAddress.get(address) ?? new Set();
    const limit = isListed(proxies, remoteAddress) ? max : maxPerAddress;
    if (!makeRoom(peers, limit) || !makeRoom(open, max)) {
      counts.refused += 1;
      return socket.destroy();
    }
    bytesSeen.set(socket, 0);
    addresses.set(socket, address);
    open.add(socket);
    byAddress.set(address, peers.add(socket));
    socket.once('close', () => forget(socket));
    return undefined;
  });

  return { open, counts };
}

/** Returns a list of addresses and CIDR ranges. */
export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export const isListed = (list: BlockList, address: string) =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
