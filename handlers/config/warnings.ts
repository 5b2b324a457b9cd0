import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { closestMatch } from 'leven';
import { createAddressSet, includesAddress, isLoopback } from '../addresses.js';
import { type Config, VARIABLE_NAMES } from './index.js';
import { SECRET_FILE_VARIABLES } from './secret-files.js';

const DAY_SECONDS = 24 * 60 * 60;
const YEAR_SECONDS = 365 * DAY_SECONDS;

/** The prefix lengths of the largest ranges that can be trusted without a warning. */
const MIN_PREFIX_BITS = { ipv4: 8, ipv6: 16 };

const IPV4_MAPPED = createAddressSet(['::ffff:0:0/96']);

/** Returns one line for each setting that is valid but probably a mistake. */
export function configWarnings(config: Config): string[] {
  const { corsOrigins, opsHost, publicUrl, stores, tokenTtlSeconds, trustProxy } = config;
  const largeRanges = trustProxy.filter(isLarge);
  const httpOrigins = corsOrigins.filter((origin) => origin.startsWith('http:'));
  const warnings: string[] = [];
  if (largeRanges.length > 0) {
    const ranges = largeRanges.join(', ');
    warnings.push(`TRUST_PROXY trusts all clients in ${ranges}: they can forge their address and evade rate limits`);
  }
  if (!isLoopback(opsHost)) {
    warnings.push(`OPS_HOST ${opsHost} is not a loopback address: other hosts can read the metrics`);
  }
  if (publicUrl.protocol === 'https:' && trustProxy.length === 0) {
    warnings.push('PUBLIC_URL is https, but TRUST_PROXY is not set: all clients behind the proxy share one rate limit');
  }
  if (publicUrl.protocol === 'https:' && httpOrigins.length > 0) {
    warnings.push(`CORS_ORIGINS contains http origins although PUBLIC_URL is https: ${httpOrigins.join(', ')}`);
  }
  // If a variable is missing by mistake, production would start on an empty store.
  const missing = [...(stores.postgres ? [] : ['DATABASE_URL']), ...(stores.s3 ? [] : ['S3_BUCKET'])];
  if (publicUrl.protocol === 'https:' && missing.length > 0) {
    warnings.push(`PUBLIC_URL is https, but data is stored in DATA_DIR: not set: ${missing.join(', ')}`);
  }
  const mode = modeOf(stores.dataDir);
  if (missing.length > 0 && mode & 0o077) {
    warnings.push(`DATA_DIR is accessible to other users (mode ${mode.toString(8)}): chmod 700 ${stores.dataDir}`);
  }
  if (tokenTtlSeconds > YEAR_SECONDS) {
    const days = Math.ceil(tokenTtlSeconds / DAY_SECONDS);
    warnings.push(`TOKEN_TTL is longer than a year: a stolen token is valid for up to ${days} days`);
  }
  return warnings;
}

/** Returns the permissions of a directory, or 0 if they cannot be read: the start reports a directory that it cannot use. */
function modeOf(path: string): number {
  try {
    const status = statSync(path);
    return status.isDirectory() ? status.mode & 0o777 : 0;
  } catch {
    return 0;
  }
}

/** Returns whether a range contains more addresses than `MIN_PREFIX_BITS` allows. */
function isLarge(range: string): boolean {
  const [address = '', prefix] = range.split('/');
  if (prefix === undefined) return false;
  const bits = Number(prefix);
  if (isIP(address) === 4) return bits < MIN_PREFIX_BITS.ipv4;
  // An IPv4-mapped range counts as IPv4: `::ffff:10.0.0.0/104` is 10.0.0.0/8.
  const isMapped = bits >= 96 && includesAddress(IPV4_MAPPED, address);
  return isMapped ? bits - 96 < MIN_PREFIX_BITS.ipv4 : bits < MIN_PREFIX_BITS.ipv6;
}

const KNOWN_NAMES = [...VARIABLE_NAMES, ...SECRET_FILE_VARIABLES];

/** Shorter names are too similar to unrelated ones: HOST and HOME. */
const MIN_COMPARED_LENGTH = 6;
const MAX_TYPOS = 2;

/** Returns a line for each variable that the service does not read, but whose name is similar to one that it reads. */
export function misspelledVariables(environment: NodeJS.ProcessEnv): string[] {
  const candidates = KNOWN_NAMES.filter(({ length }) => length >= MIN_COMPARED_LENGTH);
  return Object.keys(environment).flatMap((name) => {
    if (name === 'WORKERS')
      return ['WORKERS is no longer a variable of this service. Start several processes instead.'];
    // Container platforms derive names such as NEO4J_PORT, which is similar to NEO4J_POOL, from those of other services.
    if (KNOWN_NAMES.includes(name) || name.endsWith('_PORT')) return [];
    const known = closestMatch(name, candidates, { maxDistance: MAX_TYPOS });
    return known === undefined ? [] : [`${name} is not a variable of this service. Did you mean ${known}?`];
  });
}
