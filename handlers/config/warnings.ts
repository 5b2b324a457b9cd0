import { isIP } from 'node:net';
import { blockListOf, isListed } from '../addresses.js';
import type { Config } from './index.js';

const DAY_SECONDS = 24 * 60 * 60;
const YEAR_SECONDS = 365 * DAY_SECONDS;

const ADDRESS_BITS = { 4: 32, 6: 128 } as const;

/** By IP version: the prefix length of the largest range that can be trusted without a warning. */
const MIN_PREFIX_BITS = { 4: 8, 6: 16 } as const;

const LOOPBACK = blockListOf(['127.0.0.0/8', '::1']);

/** Returns one line for each setting that is valid but probably a mistake. */
export function configWarnings(config: Config): string[] {
  const { corsOrigins, opsHost, publicUrl, tokenTtlSeconds, trustProxy } = config;
  const httpOrigins = corsOrigins.filter((origin) => origin.startsWith('http:'));
  const warnings: string[] = [];
  if (coversManyAddresses(trustProxy)) {
    warnings.push(
      'TRUST_PROXY trusts a large part of all IP addresses: clients with one of these addresses can forge their address and evade rate limits',
    );
  }
  if (!isLoopback(opsHost)) {
    warnings.push(`OPS_HOST ${opsHost} is not a loopback address: other hosts can read the metrics`);
  }
  if (publicUrl.protocol === 'https:' && httpOrigins.length > 0) {
    warnings.push(`CORS_ORIGINS contains http origins although PUBLIC_URL is https: ${httpOrigins.join(', ')}`);
  }
  if (tokenTtlSeconds > YEAR_SECONDS) {
    const days = Math.ceil(tokenTtlSeconds / DAY_SECONDS);
    warnings.push(`TOKEN_TTL is longer than a year: a stolen token is valid for up to ${days} days`);
  }
  return warnings;
}

const isLoopback = (host: string) => host === 'localhost' || isListed(LOOPBACK, host);

interface Range {
  version: 4 | 6;
  first: bigint;
  /** The first address after the range. */
  end: bigint;
}

/** Returns whether the ranges together contain more addresses of one IP version than `MIN_PREFIX_BITS` allows. */
function coversManyAddresses(ranges: readonly string[]): boolean {
  const parsed = ranges.map(parseRange);
  return ([4, 6] as const).some((version) => {
    const maxAddresses = 1n << BigInt(ADDRESS_BITS[version] - MIN_PREFIX_BITS[version]);
    return countAddresses(parsed.filter((range) => range.version === version)) > maxAddresses;
  });
}

/** Returns the number of addresses in the union of ranges. */
function countAddresses(ranges: readonly Range[]): bigint {
  let count = 0n;
  let coveredEnd = 0n;
  for (const { first, end } of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const start = first > coveredEnd ? first : coveredEnd;
    if (end > start) count += end - start;
    if (end > coveredEnd) coveredEnd = end;
  }
  return count;
}

const IPV4_MAPPED_PREFIX = 0xffffn;

/** Parses a validated IP address or CIDR range. */
function parseRange(text: string): Range {
  const [address = '', prefix] = text.split('/');
  const version = isIP(address) === 4 ? 4 : 6;
  const value = version === 4 ? parseIpv4(address) : parseIpv6(address);
  const prefixBits = prefix === undefined ? ADDRESS_BITS[version] : Number(prefix);
  // An IPv4-mapped range counts as IPv4: `::ffff:10.0.0.0/104` is 10.0.0.0/8.
  if (version === 6 && prefixBits >= 96 && value >> 32n === IPV4_MAPPED_PREFIX) {
    return rangeAround(4, value & 0xffff_ffffn, prefixBits - 96);
  }
  return rangeAround(version, value, prefixBits);
}

/** Returns the range of all addresses whose first `prefixBits` bits are the same as those of an address. */
function rangeAround(version: 4 | 6, address: bigint, prefixBits: number): Range {
  const size = 1n << BigInt(ADDRESS_BITS[version] - prefixBits);
  const first = address - (address % size);
  return { version, first, end: first + size };
}

const parseIpv4 = (address: string) =>
  address.split('.').reduce((value, part) => (value << 8n) | BigInt(Number(part)), 0n);

function parseIpv6(address: string): bigint {
  // The URL parser converts every notation to hexadecimal groups.
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [head = '', tail] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const front = groups(head);
  const back = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}
