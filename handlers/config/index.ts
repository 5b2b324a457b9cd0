import { cleanEnv, str } from 'envalid';
import type { StoresConfig } from '../../db/stores/index.js';
import {
  baseUrl,
  flag,
  host,
  integer,
  ipRanges,
  origins,
  port,
  positiveInteger,
  redisUrl,
  storeUrl,
  type TokenKeys,
  tokenKeys,
} from './variables.js';

export interface Config {
  host: string;
  port: number;
  opsHost: string;
  opsPort: number;
  /** The base URL at which clients reach the service. */
  publicUrl: URL;
  /** The origins, besides that of `publicUrl`, whose pages may use the API with the session cookie. */
  corsOrigins: readonly string[];
  /** The addresses and CIDR ranges of proxies whose forwarded headers are trusted. */
  trustProxy: readonly string[];
  stores: StoresConfig;
  /** Where all processes count requests and failed passwords. If undefined, each process counts in memory. */
  redis: { url: string; timeoutMs: number } | undefined;
  /** If undefined, the keys in the data directory are used. */
  tokenKeys: TokenKeys | undefined;
  tokenTtlSeconds: number;
  /** `closed`: only the operator creates accounts. */
  registration: 'open' | 'closed';
  rateLimit: { general: number; strict: number; windowSeconds: number };
  uploadMaxBytes: number;
  /** Whether to remove metadata that may identify people or places from images. */
  uploadStripMetadata: boolean;
  /** Limits per account. `failedPasswordsMax` is the limit for one hour. */
  account: { storageMaxBytes: number; sessionsMax: number; failedPasswordsMax: number };
  /** At shutdown, the readiness check fails for this long before the servers close. */
  shutdownDelaySeconds: number;
  logLevel: string;
  /** If undefined, the format is text on a terminal, and JSON otherwise. */
  logFormat: 'json' | 'text' | undefined;
}

/** The configuration is invalid: an environment variable, the file with the token keys, or an option of a command. */
export class ConfigError extends Error {
  readonly code = 'invalid_config';
  override readonly name = 'ConfigError';
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const DAY_SECONDS = 24 * 60 * 60;

/** At most a day. Much longer timeouts would exceed the range of timers. */
const timeoutMs = integer(1, DAY_SECONDS * 1000);

/** At most five minutes, because an image can be claimed only for a limited time (see `pending-images.ts`). */
const s3TimeoutMs = integer(1, 5 * 60 * 1000);

/** 100 years: expiry times stay far below the year 10000, which RFC 3339 and cookies cannot express. */
const MAX_TTL_SECONDS = 100 * 365 * DAY_SECONDS;

const VALIDATORS = {
  HOST: host({ default: '127.0.0.1' }),
  PORT: port({ default: 3000 }),
  OPS_HOST: host({ default: '127.0.0.1' }),
  OPS_PORT: port({ default: 3001 }),
  PUBLIC_URL: baseUrl({ default: undefined }),
  CORS_ORIGINS: origins({ default: [] }),
  TRUST_PROXY: ipRanges({ default: [] }),
  DATA_DIR: str({ default: '.data' }),
  DATABASE_URL: storeUrl('postgres', 'postgresql')({ default: undefined }),
  DATABASE_POOL: positiveInteger({ default: 10 }),
  DATABASE_GRAPH_POOL: positiveInteger({ default: 4 }),
  DATABASE_TIMEOUT: timeoutMs({ default: 3000 }),
  NEO4J_URI: storeUrl('neo4j', 'neo4j+s', 'neo4j+ssc', 'bolt', 'bolt+s', 'bolt+ssc')({ default: undefined }),
  NEO4J_USERNAME: str({ default: undefined }),
  NEO4J_PASSWORD: str({ default: undefined }),
  NEO4J_POOL: positiveInteger({ default: 20 }),
  NEO4J_TIMEOUT: timeoutMs({ default: 2000 }),
  S3_ENDPOINT: storeUrl('https', 'http')({ default: undefined }),
  S3_BUCKET: str({ default: undefined }),
  S3_PATH_STYLE: flag({ default: undefined }),
  S3_POOL: positiveInteger({ default: 50 }),
  S3_TIMEOUT: s3TimeoutMs({ default: 2000 }),
  REDIS_URL: redisUrl({ default: undefined }),
  REDIS_TIMEOUT: timeoutMs({ default: 250 }),
  TOKEN_KEYS: tokenKeys({ default: undefined }),
  TOKEN_TTL: integer(1, MAX_TTL_SECONDS)({ default: 604_800 }),
  REGISTRATION: str<'open' | 'closed'>({ choices: ['open', 'closed'], default: 'open' }),
  RATE_LIMIT_MAX: positiveInteger({ default: 300 }),
  RATE_LIMIT_STRICT_MAX: positiveInteger({ default: 20 }),
  RATE_LIMIT_WINDOW: integer(1, DAY_SECONDS)({ default: 900 }),
  UPLOAD_MAX_BYTES: positiveInteger({ default: 5_242_880 }),
  UPLOAD_STRIP_METADATA: flag({ default: true }),
  ACCOUNT_STORAGE_MAX_BYTES: positiveInteger({ default: 1_073_741_824 }),
  ACCOUNT_SESSIONS_MAX: positiveInteger({ default: 100 }),
  ACCOUNT_FAILED_PASSWORDS_MAX: positiveInteger({ default: 100 }),
  SHUTDOWN_DELAY: integer(0, 3600)({ default: 0 }),
  LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
  LOG_FORMAT: str({ choices: ['json', 'text'], default: undefined }),
};

/** The names of the variables that the service itself reads. Libraries may read others. */
export const VARIABLE_NAMES: readonly string[] = Object.keys(VALIDATORS);

/**
 * Reads the configuration from environment variables. An empty variable counts as not set.
 *
 * @throws ConfigError with a one-line message that names the invalid variables
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const problems: string[] = [];
  const env = cleanEnv(nonEmpty, VALIDATORS, { reporter: ({ errors }) => problems.push(...problemsOf(errors)) });
  const externalStore = ['DATABASE_URL', 'NEO4J_URI', 'S3_BUCKET', 'REDIS_URL'].find((name) => nonEmpty[name]);
  if (nonEmpty.NEO4J_URI && !nonEmpty.DATABASE_URL) problems.push('NEO4J_URI: requires DATABASE_URL');
  if (nonEmpty.S3_ENDPOINT && !nonEmpty.S3_BUCKET) problems.push('S3_ENDPOINT: requires S3_BUCKET');
  if (externalStore && !nonEmpty.TOKEN_KEYS) problems.push(`TOKEN_KEYS: required with ${externalStore}`);
  // White space is collapsed, because messages may quote values with line breaks.
  if (problems.length > 0) throw new ConfigError(problems.join('; ').replace(/\s+/g, ' '));
  return {
    host: env.HOST,
    port: env.PORT,
    opsHost: env.OPS_HOST,
    opsPort: env.OPS_PORT,
    publicUrl: env.PUBLIC_URL ?? new URL(urlOf(env.HOST, env.PORT)),
    corsOrigins: env.CORS_ORIGINS,
    trustProxy: env.TRUST_PROXY,
    stores: {
      dataDir: env.DATA_DIR,
      postgres: env.DATABASE_URL
        ? {
            url: env.DATABASE_URL,
            poolSize: env.DATABASE_POOL,
            graphPoolSize: env.DATABASE_GRAPH_POOL,
            timeoutMs: env.DATABASE_TIMEOUT,
          }
        : undefined,
      neo4j: env.NEO4J_URI
        ? {
            uri: env.NEO4J_URI,
            username: env.NEO4J_USERNAME,
            password: env.NEO4J_PASSWORD,
            poolSize: env.NEO4J_POOL,
            timeoutMs: env.NEO4J_TIMEOUT,
          }
        : undefined,
      s3: env.S3_BUCKET
        ? {
            endpoint: env.S3_ENDPOINT,
            bucket: env.S3_BUCKET,
            pathStyle: env.S3_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
            poolSize: env.S3_POOL,
            timeoutMs: env.S3_TIMEOUT,
          }
        : undefined,
    },
    redis: env.REDIS_URL ? { url: env.REDIS_URL, timeoutMs: env.REDIS_TIMEOUT } : undefined,
    tokenKeys: env.TOKEN_KEYS,
    tokenTtlSeconds: env.TOKEN_TTL,
    registration: env.REGISTRATION,
    rateLimit: { general: env.RATE_LIMIT_MAX, strict: env.RATE_LIMIT_STRICT_MAX, windowSeconds: env.RATE_LIMIT_WINDOW },
    uploadMaxBytes: env.UPLOAD_MAX_BYTES,
    uploadStripMetadata: env.UPLOAD_STRIP_METADATA,
    account: {
      storageMaxBytes: env.ACCOUNT_STORAGE_MAX_BYTES,
      sessionsMax: env.ACCOUNT_SESSIONS_MAX,
      failedPasswordsMax: env.ACCOUNT_FAILED_PASSWORDS_MAX,
    },
    shutdownDelaySeconds: env.SHUTDOWN_DELAY,
    logLevel: env.LOG_LEVEL,
    logFormat: env.LOG_FORMAT,
  };
}

/** Returns the base URL of a server, without a trailing slash. Omits the zone of an IPv6 address, which URLs cannot contain. */
export const urlOf = (host: string, port: number) =>
  `http://${host.includes(':') ? `[${host.replace(/%.*/, '')}]` : host}:${port}`;

const problemsOf = (errors: Partial<Record<string, Error>>): string[] =>
  Object.entries(errors).flatMap(([name, error]) => (error ? [`${name}: ${error.message}`] : []));
