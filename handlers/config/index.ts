import { cleanEnv, str } from 'envalid';
import type { StoresConfig } from '../../db/stores.js';
import {
  addresses,
  baseUrl,
  flag,
  origins,
  port,
  positive,
  storeUrl,
  type TokenKey,
  tokenKeys,
  whole,
} from './variables.js';

export interface Config {
  host: string;
  port: number;
  opsHost: string;
  opsPort: number;
  /** Undefined when it follows from where the API listens. */
  publicUrl: URL | undefined;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  stores: StoresConfig;
  /** Where rate limits are counted, unless in memory; `timeout` in milliseconds. */
  redis: { url: string; timeout: number } | undefined;
  /** Undefined when they are kept in the data directory. The first one signs. */
  tokenKeys: readonly [TokenKey, ...TokenKey[]] | undefined;
  /** Seconds. */
  tokenTtl: number;
  rateLimit: { general: number; strict: number; windowSeconds: number };
  uploadMaxBytes: number;
  /** Whether metadata that identifies people or places is removed from images. */
  uploadStripMetadata: boolean;
  /** What one account may take up: stored bytes, sessions, failed passwords in an hour. */
  account: { storageMaxBytes: number; sessionsMax: number; failedPasswordsMax: number };
  /** Seconds from when the service says that it is not ready to when it stops listening. */
  shutdownDelay: number;
  logLevel: string;
}

export class ConfigError extends Error {}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** A hundred years: beyond the year 9999 there are no dates to write in a token, a cookie or RFC 3339. */
const MAX_TTL_SECONDS = 100 * 365 * 24 * 60 * 60;

/**
 * Reads the configuration. A variable that is set to nothing is not set.
 *
 * @throws ConfigError whose message is one line that names every bad variable
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
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
      DATABASE_URL: storeUrl('postgres', 'postgresql')({ default: undefined }),
      DATABASE_POOL: positive({ default: 10 }),
      DATABASE_GRAPH_POOL: positive({ default: 4 }),
      DATABASE_TIMEOUT: positive({ default: 2000 }),
      NEO4J_URI: storeUrl('neo4j', 'neo4j+s', 'neo4j+ssc', 'bolt', 'bolt+s', 'bolt+ssc')({ default: undefined }),
      NEO4J_USERNAME: str({ default: undefined }),
      NEO4J_PASSWORD: str({ default: undefined }),
      NEO4J_POOL: positive({ default: 20 }),
      NEO4J_TIMEOUT: positive({ default: 2000 }),
      S3_ENDPOINT: storeUrl('https', 'http')({ default: undefined }),
      S3_BUCKET: str({ default: undefined }),
      S3_PATH_STYLE: flag({ default: undefined }),
      S3_POOL: positive({ default: 50 }),
      S3_TIMEOUT: positive({ default: 2000 }),
      REDIS_URL: storeUrl('redis', 'rediss')({ default: undefined }),
      REDIS_TIMEOUT: positive({ default: 250 }),
      TOKEN_KEYS: tokenKeys({ default: undefined }),
      TOKEN_TTL: whole(1, MAX_TTL_SECONDS)({ default: 604_800 }),
      RATE_LIMIT_MAX: positive({ default: 300 }),
      RATE_LIMIT_STRICT_MAX: positive({ default: 20 }),
      RATE_LIMIT_WINDOW: positive({ default: 900 }),
      UPLOAD_MAX_BYTES: positive({ default: 5_242_880 }),
      UPLOAD_STRIP_METADATA: flag({ default: true }),
      ACCOUNT_STORAGE_MAX_BYTES: positive({ default: 1_073_741_824 }),
      ACCOUNT_SESSIONS_MAX: positive({ default: 100 }),
      ACCOUNT_FAILED_PASSWORDS_MAX: positive({ default: 100 }),
      SHUTDOWN_DELAY: whole(0, 3600)({ default: 0 }),
      LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
    },
    { reporter: ({ errors }) => refuse(errors) },
  );
  const real = (['DATABASE_URL', 'NEO4J_URI', 'S3_BUCKET', 'REDIS_URL'] as const).filter((name) => env[name]);
  if (env.NEO4J_URI && !env.DATABASE_URL) throw new ConfigError('NEO4J_URI: needs DATABASE_URL');
  if (env.S3_ENDPOINT && !env.S3_BUCKET) throw new ConfigError('S3_ENDPOINT: needs S3_BUCKET');
  if (real[0] && !env.TOKEN_KEYS) throw new ConfigError(`TOKEN_KEYS: needed with ${real[0]}`);
  return {
    host: env.HOST,
    port: env.PORT,
    opsHost: env.OPS_HOST,
    opsPort: env.OPS_PORT,
    publicUrl: env.PUBLIC_URL,
    corsOrigins: env.CORS_ORIGINS,
    trustProxy: env.TRUST_PROXY,
    stores: {
      dataDir: env.DATA_DIR,
      postgres: env.DATABASE_URL
        ? {
            url: env.DATABASE_URL,
            poolSize: env.DATABASE_POOL,
            graphPoolSize: env.DATABASE_GRAPH_POOL,
            timeout: env.DATABASE_TIMEOUT,
          }
        : undefined,
      neo4j: env.NEO4J_URI
        ? {
            uri: env.NEO4J_URI,
            username: env.NEO4J_USERNAME,
            password: env.NEO4J_PASSWORD,
            poolSize: env.NEO4J_POOL,
            timeout: env.NEO4J_TIMEOUT,
          }
        : undefined,
      s3: env.S3_BUCKET
        ? {
            endpoint: env.S3_ENDPOINT,
            bucket: env.S3_BUCKET,
            pathStyle: env.S3_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
            poolSize: env.S3_POOL,
            timeout: env.S3_TIMEOUT,
          }
        : undefined,
    },
    redis: env.REDIS_URL ? { url: env.REDIS_URL, timeout: env.REDIS_TIMEOUT } : undefined,
    tokenKeys: env.TOKEN_KEYS,
    tokenTtl: env.TOKEN_TTL,
    rateLimit: { general: env.RATE_LIMIT_MAX, strict: env.RATE_LIMIT_STRICT_MAX, windowSeconds: env.RATE_LIMIT_WINDOW },
    uploadMaxBytes: env.UPLOAD_MAX_BYTES,
    uploadStripMetadata: env.UPLOAD_STRIP_METADATA,
    account: {
      storageMaxBytes: env.ACCOUNT_STORAGE_MAX_BYTES,
      sessionsMax: env.ACCOUNT_SESSIONS_MAX,
      failedPasswordsMax: env.ACCOUNT_FAILED_PASSWORDS_MAX,
    },
    shutdownDelay: env.SHUTDOWN_DELAY,
    logLevel: env.LOG_LEVEL,
  };
}

function refuse(errors: Partial<Record<string, Error>>): void {
  const problems = Object.entries(errors).flatMap(([name, error]) => (error ? [`${name}: ${error.message}`] : []));
  // What was given is repeated in them, and may hold line breaks.
  if (problems.length > 0) throw new ConfigError(problems.join('; ').replace(/\s+/g, ' '));
}
