import { BlockList, isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';

/* IP addresses of clients and proxies. */

/**
 * Returns the key under which the limits of a client are counted: its IPv4 address, or the /64 network of its IPv6 address. A
 * client usually has a whole /64 network, so it could evade a limit that applied to a single address.
 *
 * @param address undefined if the client has reset its connection
 */
export const addressKey = (address: string | undefined): string => normalizeIP(withoutPort(address ?? ''));

/** Removes the port, which some proxies add to the address. Otherwise each connection would have limits of its own. */
function withoutPort(address: string): string {
  if (isIP(address)) return address;
  return /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address.replace(/:\d+$/, '');
}

const familyOf = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** Creates a set of IP addresses from addresses and CIDR ranges. Node's `BlockList` is such a set; nothing is blocked. */
export function createAddressSet(ranges: readonly string[]): BlockList {
  const set = new BlockList();
  for (const range of ranges) {
    const [address = '', prefixBits] = range.split('/');
    if (prefixBits === undefined) set.addAddress(address, familyOf(address));
    else set.addSubnet(address, Number(prefixBits), familyOf(address));
  }
  return set;
}

export const includesAddress = (set: BlockList, address: string): boolean => set.check(address, familyOf(address));

const LOOPBACK = createAddressSet(['127.0.0.0/8', '::1']);

/** Returns whether a host, a name or an address, is this machine itself. */
export const isLoopback = (host: string): boolean => host === 'localhost' || includesAddress(LOOPBACK, host);
