import { BlockList, isIP } from 'node:net';
import type { Config } from './index.js';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** The shortest prefixes of trusted ranges that cause no warning, in bits. */
const MIN_PREFIX_BITS = { 4: 8, 6: 16 } as const;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns one line for each setting that is valid but probably a mistake. */
export function configWarnings(config: Config): string[] {
  const { corsOrigins, opsHost, publicUrl, tokenTtlSeconds, trustProxy } = config;
  const httpOrigins = corsOrigins.filter((origin) => origin.startsWith('http:'));
  return [
    ...(isWide(trustProxy)
      ? [
          'TRUST_PROXY covers a large part of all addresses: clients in it can forge their address and evade rate limits',
        ]
      : []),
    ...(isLoopback(opsHost) ? [] : [`OPS_HOST ${opsHost} is not a loopback address: other hosts can read the metrics`]),
    ...(publicUrl?.protocol === 'https:' && httpOrigins.length > 0
      ? [`CORS_ORIGINS contains http origins although PUBLIC_URL is https: ${httpOrigins.join(', ')}`]
      : []),
    ...(tokenTtlSeconds > YEAR_SECONDS
      ? [
          `TOKEN_TTL is longer than a year: a stolen token is valid for up to ${Math.round(tokenTtlSeconds / YEAR_SECONDS)} years`,
        ]
      : []),
  ];
}

function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === 'localhost' : LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

interface Range {
  version: 4 | 6;
  first: bigint;
  /** Exclusive. */
  end: bigint;
}

/** Returns whether the ranges together cover more addresses of an IP version than `MIN_PREFIX_BITS` allows. */
function isWide(ranges: readonly string[]): boolean {
  const parsed = ranges.map(rangeOf);
  return ([4, 6] as const).some((version) => {
    const bits = version === 4 ? 32 : 128;
    return sizeOf(parsed.filter((range) => range.version === version)) > 1n << BigInt(bits - MIN_PREFIX_BITS[version]);
  });
}

/** Returns the number of addresses in the union of ranges. */
function sizeOf(ranges: Range[]): bigint {
  let size = 0n;
  let covered = 0n;
  for (const { first, end } of ranges.sort((a, b) => (a.first < b.first ? -1 : 1))) {
    const start = first > covered ? first : covered;
    if (end > start) size += end - start;
    if (end > covered) covered = end;
  }
  return size;
}

const IPV4_MAPPED_PREFIX = 0xffffn;

function rangeOf(text: string): Range {
  const [address = '', prefix] = text.split('/');
  const version = isIP(address) === 4 ? 4 : 6;
  const bits = version === 4 ? 32 : 128;
  const value = version === 4 ? ipv4Value(address) : ipv6Value(address);
  const length = prefix === undefined ? bits : Number(prefix);
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8.
  if (version === 6 && length >= 96 && value >> 32n === IPV4_MAPPED_PREFIX) {
    return rangeAt(4, value & 0xffff_ffffn, length - 96, 32);
  }
  return rangeAt(version, value, length, bits);
}

function rangeAt(version: 4 | 6, value: bigint, length: number, bits: number): Range {
  const size = 1n << BigInt(bits - length);
  const first = value - (value % size);
  return { version, first, end: first + size };
}

const ipv4Value = (address: string) =>
  address.split('.').reduce((value, part) => (value << 8n) | BigInt(Number(part)), 0n);

function ipv6Value(address: string): bigint {
  // The URL parser normalizes every address to hexadecimal groups.
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [head = '', tail] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::');
  const front = groups(head);
  const back = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}
