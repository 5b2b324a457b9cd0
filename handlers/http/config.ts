import { isIP } from 'node:net';
import { cleanEnv, EnvError, makeExactValidator, str } from 'envalid';

export interface TokenKey {
  id: string;
  secret: string;
}

export interface Config {
  host: string;
  port: number;
  opsHost: string;
  opsPort: number;
  /** Undefined when it follows from where the API listens. */
  publicUrl: URL | undefined;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  dataDir: string;
  /** Undefined when they are kept in `dataDir`. The first one signs. */
  tokenKeys: readonly [TokenKey, ...TokenKey[]] | undefined;
  /** Seconds. */
  tokenTtl: number;
  rateLimit: { general: number; strict: number; windowSeconds: number };
  uploadMaxBytes: number;
  logLevel: string;
}

export class ConfigError extends Error {}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** What the production stores will be chosen by. Ignoring one of these would put somebody's data where nobody looks. */
const NOT_SERVED = ['DATABASE_URL', 'NEO4J_URI', 'S3_ENDPOINT', 'S3_BUCKET', 'REDIS_URL'];

const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  makeExactValidator<number>((input) => {
    const value = /^\d{1,16}$/.test(input) ? Number(input) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new EnvError(`"${input}" is not a whole number from ${minimum} to ${maximum}`);
  });

const port = whole(0, 65_535);
const positive = whole(1);

/** A hundred years: beyond the year 9999 there are no dates to write in a token, a cookie or RFC 3339. */
const LONGEST_TTL = 100 * 365 * 24 * 60 * 60;

const list = (input: string) => input.split(',').map((item) => item.trim());

const origins = makeExactValidator<readonly string[]>((input) =>
  list(input).map((item) => {
    // 'null' is what any page without an origin of its own says: it names nobody.
    const origin = URL.canParse(item) ? new URL(item).origin : undefined;
    if (origin !== item) throw new EnvError(`"${item}" is not an origin such as https://app.example`);
    return origin;
  }),
);

const addresses = makeExactValidator<readonly string[]>((input) =>
  list(input).map((item) => {
    const [address = '', bits, ...rest] = item.split('/');
    const longest = isIP(address) === 4 ? 32 : 128;
    const ranged = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= longest);
    if (!isIP(address) || !ranged || rest.length > 0) throw new EnvError(`"${item}" is not an address or a CIDR range`);
    return item;
  }),
);

const baseUrl = makeExactValidator<URL>((input) => {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!plain) throw new EnvError('an http or https address without a path is needed');
  return url;
});

const tokenKeys = makeExactValidator<readonly [TokenKey, ...TokenKey[]]>((input) => parseTokenKeys(input));

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
    return { id, secret };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new EnvError('two keys have the same id');
  return keys as [TokenKey, ...TokenKey[]];
}

/**
 * Reads the configuration. A variable that is set to nothing is not set.
 *
 * @throws ConfigError whose message is one line that names every bad variable
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const notServed = NOT_SERVED.filter((name) => name in given);
  if (notServed.length > 0) {
    throw new ConfigError(`${notServed.join(', ')}: this version serves on its embedded stores only`);
  }
  const env = cleanEnv(
    given,
    {
      HOST: str({ default: '127.0.0.1' }),
      PORT: port({ default: 3000 }),
      OPS_HOST: str({ default: '127.0.0.1' }),
      OPS_PORT: port({ default: 3001 }),
      PUBLIC_URL: baseUrl({ default: undefined }),
      CORS_ORIGINS: origins({ default: [] }),
      TRUST_PROXY: addresses({ default: [] }),
      DATA_DIR: str({ default: '.data' }),
      TOKEN_KEYS: tokenKeys({ default: undefined }),
      TOKEN_TTL: whole(1, LONGEST_TTL)({ default: 604_800 }),
      RATE_LIMIT_MAX: positive({ default: 300 }),
      RATE_LIMIT_STRICT_MAX: positive({ default: 20 }),
      RATE_LIMIT_WINDOW: positive({ default: 900 }),
      UPLOAD_MAX_BYTES: positive({ default: 5_242_880 }),
      LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
    },
    { reporter: ({ errors }) => refuse(errors) },
  );
  return {
    host: env.HOST,
    port: env.PORT,
    opsHost: env.OPS_HOST,
    opsPort: env.OPS_PORT,
    publicUrl: env.PUBLIC_URL,
    corsOrigins: env.CORS_ORIGINS,
    trustProxy: env.TRUST_PROXY,
    dataDir: env.DATA_DIR,
    tokenKeys: env.TOKEN_KEYS,
    tokenTtl: env.TOKEN_TTL,
    rateLimit: { general: env.RATE_LIMIT_MAX, strict: env.RATE_LIMIT_STRICT_MAX, windowSeconds: env.RATE_LIMIT_WINDOW },
    uploadMaxBytes: env.UPLOAD_MAX_BYTES,
    logLevel: env.LOG_LEVEL,
  };
}

function refuse(errors: Partial<Record<string, Error>>): void {
  const problems = Object.entries(errors).flatMap(([name, error]) => (error ? [`${name}: ${error.message}`] : []));
  // What was given is repeated in them, and may hold line breaks.
  if (problems.length > 0) throw new ConfigError(problems.join('; ').replace(/\s+/g, ' '));
}
