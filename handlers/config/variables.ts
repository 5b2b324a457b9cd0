import { isIP } from 'node:net';
import { EnvError, makeExactValidator } from 'envalid';
import { weaknessOf } from './secret-strength.js';

export interface TokenKey {
  id: string;
  secret: string;
}

export const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  makeExactValidator<number>((input) => {
    const value = /^\d{1,16}$/.test(input) ? Number(input) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new EnvError(`"${input}" is not a whole number from ${minimum} to ${maximum}`);
  });

export const port = whole(0, 65_535);
export const positive = whole(1);

const list = (input: string) => input.split(',').map((item) => item.trim());

export const origins = makeExactValidator<readonly string[]>((input) =>
  list(input).map((item) => {
    // 'null' is what any page without an origin of its own says: it names nobody.
    const origin = URL.canParse(item) ? new URL(item).origin : undefined;
    if (origin !== item) throw new EnvError(`"${item}" is not an origin such as https://context.example`);
    return origin;
  }),
);

export const addresses = makeExactValidator<readonly string[]>((input) =>
  list(input).map((item) => {
    const [address = '', bits, ...rest] = item.split('/');
    const longest = isIP(address) === 4 ? 32 : 128;
    const ranged = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= longest);
    if (!isIP(address) || !ranged || rest.length > 0) throw new EnvError(`"${item}" is not an address or a CIDR range`);
    return item;
  }),
);

export const baseUrl = makeExactValidator<URL>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!plain) throw new EnvError('an http or https address without a path is needed');
  return url;
});

export const tokenKeys = makeExactValidator<readonly [TokenKey, ...TokenKey[]]>((input) => parseTokenKeys(input));

/**
 * `kid:secret[,kid:secret…]`. No message repeats what was given: it is secret.
 *
 * @throws EnvError
 */
export function parseTokenKeys(input: string): readonly [TokenKey, ...TokenKey[]] {
  const keys = list(input).map((item, index) => {
    const [, id, secret] = /^([\w-]+):(.+)$/.exec(item) ?? [];
    if (!id || !secret) throw new EnvError('kid:secret pairs, separated by commas, are needed');
    if (Buffer.byteLength(secret) < 32) throw new EnvError(`the secret of key ${index + 1} is shorter than 32 bytes`);
    const weakness = weaknessOf(secret);
    if (weakness) throw new EnvError(`the secret of key ${index + 1} ${weakness}: use \`openssl rand -hex 32\``);
    return { id, secret };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new EnvError('two keys have the same id');
  if (new Set(keys.map(({ secret }) => secret)).size < keys.length) throw new EnvError('two keys have the same secret');
  return keys as [TokenKey, ...TokenKey[]];
}

/**
 * The address of a store, of one of these schemes. No message repeats what was given: a password may be in it.
 */
export const storeUrl = (...schemes: string[]) =>
  makeExactValidator<string>((input) => {
    const url = URL.canParse(input) ? new URL(input) : undefined;
    if (!url || !schemes.includes(url.protocol.slice(0, -1))) {
      throw new EnvError(`an address such as ${schemes[0]}://host is needed`);
    }
    return input;
  });

export const flag = makeExactValidator<boolean>((input) => {
  if (input !== 'true' && input !== 'false') throw new EnvError(`"${input}" is neither true nor false`);
  return input === 'true';
});
