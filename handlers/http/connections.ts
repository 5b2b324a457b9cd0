import { readFile } from 'node:fs/promises';
import type { Server, ServerResponse } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';

const MAX_CONNECTIONS = 10_000;

/** What of the file limit connections may take. The rest is for stores, images and uploads. */
const SHARE_OF_FILES = 0.75;

/** What of all connections one address may have, unless it is a trusted proxy. */
const SHARE_OF_ADDRESS = 0.25;

export interface ConnectionLimits {
  max: number;
  maxPerAddress: number;
}

export interface Connections {
  /** All that are open. */
  readonly open: ReadonlySet<Socket>;
  /** How many were closed to make room, and how many were refused since none was idle. */
  readonly counts: { readonly evicted: number; readonly refused: number };
}

/** Where Node keeps the response that a connection is occupied with. */
interface Occupied {
  _httpMessage?: ServerResponse | null;
}

/** Returns how many connections the process can serve without running out of file descriptors. */
export async function connectionLimits(): Promise<ConnectionLimits> {
  const max = Math.min(MAX_CONNECTIONS, Math.floor((await maxOpenFiles()) * SHARE_OF_FILES));
  return { max, maxPerAddress: Math.ceil(max * SHARE_OF_ADDRESS) };
}

async function maxOpenFiles(): Promise<number> {
  // Linux says it in a file. Elsewhere the diagnostic report does, which takes longer.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => undefined);
  const soft = limits === undefined ? limitInReport() : /^Max open files +(\S+)/m.exec(limits)?.[1];
  return Number.isFinite(Number(soft)) ? Number(soft) : Number.POSITIVE_INFINITY;
}

function limitInReport(): unknown {
  // Else it would look up names in the network.
  const report = Object.assign(process.report, { excludeNetwork: true });
  return (report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }).userLimits?.open_files?.soft;
}

/**
 * Bounds the connections of a server. A new one beyond a limit takes the place of the one that has been idle longest, so that
 * idle sockets never lock anybody out; it is refused only if all are in use. A connection is idle while it has no request in
 * progress, also if it has sent half a head.
 *
 * The order is kept as in the second-chance page replacement algorithm: a connection that has been used since it was last
 * looked at moves to the end of the queue. So a request costs nothing here.
 */
export function limitConnections(
  server: Server,
  { max, maxPerAddress }: ConnectionLimits,
  trustProxy: readonly string[],
): Connections {
  const open = new Set<Socket>();
  const byAddress = new Map<string, Set<Socket>>();
  /** What each connection had sent when it was last looked at. */
  const bytesSeen = new WeakMap<Socket, number>();
  const proxies = blockListOf(trustProxy);
  const counts = { evicted: 0, refused: 0 };

  /** Closes the first connection in the queue that is idle and has not been used since the last look. */
  function evictIdle(queue: Set<Socket>): boolean {
    // Twice around: those that were used get a second chance in the first round.
    for (let left = 2 * queue.size; left > 0; left -= 1) {
      const [socket] = queue as Iterable<Socket & Occupied>;
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
    // It has been reset already.
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

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const isListed = (list: BlockList, address: string) => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
