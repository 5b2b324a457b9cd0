import { isIP } from 'node:net';
import { EnvError, makeExactValidator } from 'envalid';
import { isDecodable } from '../percent-encoding.js';

export interface TokenKey {
  id: string;
  secret: string;
}

/** The first key signs tokens; any of the keys verifies them. */
export type TokenKeys = readonly [TokenKey, ...TokenKey[]];

/** Creates a validator for integers in decimal digits, from `minimum` to `maximum`. */
export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  makeExactValidator<number>((input) => {
    const value = /^\d{1,16}$/.test(input) ? Number(input) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new EnvError(`"${input}" is not an integer between ${minimum} and ${maximum}`);
  });

export const port = integer(0, 65_535);
export const positiveInteger = integer(1);

const parseUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined);

const splitList = (input: string, separator: string | RegExp = ',') =>
  input.split(separator).map((item) => item.trim());

export const origins = makeExactValidator<readonly string[]>((input) =>
  splitList(input).map((item) => {
    // Also rejects 'null', which is the origin of all sandboxed and local pages.
    const origin = parseUrl(item)?.origin;
    if (origin !== item) throw new EnvError(`"${item}" is not an origin such as https://app.example`);
    return origin;
  }),
);

/** Also accepts spaces between ranges: the proxy of `scripts/deploy` reads the same variable, and needs them. */
export const ipRanges = makeExactValidator<readonly string[]>((input) =>
  splitList(input.trim(), /\s*,\s*|\s+/).map((item) => {
    const [address = '', prefix, ...rest] = item.split('/');
    const maxBits = isIP(address) === 4 ? 32 : 128;
    const isValidPrefix =
      prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= maxBits);
    if (!isIP(address) || !isValidPrefix || rest.length > 0)
      throw new EnvError(`"${item}" is neither an IP address nor a CIDR range with a prefix of at least 1 bit`);
    return item;
  }),
);

export const host = makeExactValidator<string>((input) => {
  const url = parseUrl(`http://${input}/`);
  const isName = url && url.href === `${url.origin}/` && !input.includes(':');
  if (!isName && isIP(input) === 0) throw new EnvError('must be a host name or an IP address');
  return input;
});

export const baseUrl = makeExactValidator<URL>((input) => {
  const url = parseUrl(input);
  const isBase = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isBase) throw new EnvError('must be an http or https URL without a path');
  return url;
});

export const tokenKeys = makeExactValidator<TokenKeys>(parseTokenKeys);

/**
 * Parses token keys in the format `kid:secret[,kid:secret…]`, or with a key in each line, so that a command can append one to a
 * file. Error messages do not quote the input, because it is secret.
 *
 * @throws EnvError
 */
export function parseTokenKeys(input: string): TokenKeys {
  const keys = splitList(input, /[,\n]/).map((item, index) => {
    const [, id, secret] = /^([\w-]+):(.+)$/.exec(item) ?? [];
    if (!id || !secret) throw new EnvError('must be a list of kid:secret pairs, separated by commas or line breaks');
    if (Buffer.byteLength(secret) < 32) throw new EnvError(`the secret of key ${index + 1} is shorter than 32 bytes`);
    // A random secret has more, even in hexadecimal.
    if (new Set(secret).size < 8)
      throw new EnvError(
        `the secret of key ${index + 1} has fewer than 8 different characters: use openssl rand -hex 32`,
      );
    return { id, secret };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new EnvError('two keys have the same id');
  if (new Set(keys.map(({ secret }) => secret)).size < keys.length) throw new EnvError('two keys have the same secret');
  return keys as [TokenKey, ...TokenKey[]];
}

/** Creates a validator for URLs with one of the schemes. Errors do not quote the URL, because it may contain a password. */
export const storeUrl = (...schemes: string[]) =>
  makeExactValidator<string>((input) => {
    const url = parseUrl(input);
    if (!url || !schemes.includes(url.protocol.slice(0, -1)) || !/^[^:]+:\/\/./.test(input)) {
      throw new EnvError(`must be a URL such as ${schemes[0]}://host`);
    }
    return input;
  });

/** Stricter than `storeUrl`: ioredis fails on a malformed password, and uses database 0 if the path is not a number. */
export const redisUrl = makeExactValidator<string>((input) => {
  const url = parseUrl(input);
  const isRedisUrl = url && /^rediss?:\/\/./i.test(input) && /^\/?\d*$/.test(url.pathname);
  if (!isRedisUrl || ![url.username, url.password].every(isDecodable))
    throw new EnvError('must be a URL such as redis://:password@host/0, with a % in the password written as %25');
  return input;
});

export const flag = makeExactValidator<boolean>((input) => {
  if (input !== 'true' && input !== 'false') throw new EnvError(`"${input}" is neither true nor false`);
  return input === 'true';
});
