import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Driver } from 'neo4j-driver';
import pg from 'pg';
import type { Test } from 'tap';
import { openPostgres } from '../../db/postgres/server.js';
import { openStores, type Stores } from '../../db/stores/index.js';
import { migratePostgres } from '../../db/stores/migrate.js';
import type { Log } from '../../db/support/log.js';
import { readConfig } from '../../handlers/config/index.js';
import { freshRedisUrl } from './redis.js';

/** Whether the tests run on real servers, as with `npm run test:services`, and not on the embedded stores. */
export const onServices = process.env.DATABASE_URL !== undefined;

/** Test options that skip a test of real servers if the stores are embedded. */
export const needsServers = { skip: !onServices && 'needs DATABASE_URL: npm run test:services' };

export const silentLog: Log = { info: () => undefined, warn: () => undefined };

/** Creates a directory, which is deleted when the test ends. */
export async function temporaryDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'social-posting-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns the reason why no file system can be mounted, or false. */
export function whyNotMountable(): string | false {
  if (process.platform !== 'linux') return 'only Linux has tmpfs';
  if (process.getuid?.() !== 0) return 'only root may mount a file system';
  try {
    // Root in a container may lack the capability.
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'no file system can be mounted here';
  }
}

/** Creates a directory on a file system of this size, which is unmounted when the test ends. */
export async function mountSmallDisk(t: Test, mebibytes: number): Promise<string> {
  const directory = await temporaryDirectory(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory]);
  t.teardown(() => execFileSync('umount', ['--lazy', directory]));
  return directory;
}

/** Returns the variables of new, empty, migrated stores: on servers or embedded. */
export async function freshStores(t: Test): Promise<NodeJS.ProcessEnv> {
  return onServices ? freshServers(t) : { DATA_DIR: await freshDataDirectory(t) };
}

/** Opens a set of stores as a service does. They are closed when the test ends. */
export async function openTestStores(t: Test, environment?: NodeJS.ProcessEnv, log: Log = silentLog): Promise<Stores> {
  const variables = environment ?? (await freshStores(t));
  const stores = await withClaimedGraph(variables, () => openStores(readConfig(variables).stores, log));
  let open = true;
  const close = async () => {
    if (open) await stores.close();
    open = false;
  };
  t.teardown(close);
  return { ...stores, close };
}

/** Returns a migrated, empty data directory: a copy of a cached one, since creating one takes seconds. */
export async function freshDataDirectory(t: Test): Promise<string> {
  const directory = await temporaryDirectory(t);
  // `fs.cp` takes five times as much CPU for these thousand files.
  await promisify(execFile)('cp', ['-R', `${await preparedDataDirectory()}/.`, directory]);
  return directory;
}

async function preparedDataDirectory(): Promise<string> {
  const prepared = join('.build', `data-${await schemaVersion()}`);
  if (existsSync(prepared)) return prepared;
  const building = `${prepared}.${randomBytes(4).toString('hex')}`;
  await mkdir(building, { recursive: true });
  const stores = await openStores({ dataDir: building }, silentLog);
  await stores.close();
  // Another process may have created it first: the copies are equivalent.
  await rename(building, prepared).catch(() => rm(building, { recursive: true }));
  return prepared;
}

/** Returns a hash of everything that determines the content of prepared stores. */
async function schemaVersion(): Promise<string> {
  const hash = createHash('sha256');
  const directory = join('db', 'postgres', 'migrations');
  for (const file of (await readdir(directory)).sort()) hash.update(await readFile(join(directory, file)));
  hash.update(await readFile('package-lock.json'));
  return hash.digest('hex').slice(0, 16);
}

/** The number of sets of stores that tests are using. */
let setsInUse = 0;

async function freshServers(t: Test): Promise<NodeJS.ProcessEnv> {
  const isFirst = setsInUse === 0;
  setsInUse += 1;
  t.teardown(() => {
    setsInUse -= 1;
  });
  if (isFirst && process.env.NEO4J_URI) await emptyGraph();
  return {
    ...sharedServerVariables(),
    DATABASE_URL: await freshDatabase(t, isFirst),
    DATA_DIR: await temporaryDirectory(t),
    ...(process.env.S3_BUCKET && { S3_BUCKET: await freshBucket(t) }),
    ...(process.env.REDIS_URL && { REDIS_URL: await freshRedisUrl(t) }),
  };
}

/** Returns the variables of `npm run services` that all sets share. */
function sharedServerVariables(): NodeJS.ProcessEnv {
  const names = ['NEO4J_URI', 'NEO4J_USERNAME', 'NEO4J_PASSWORD', 'S3_ENDPOINT', 'TOKEN_KEYS'];
  const awsNames = Object.keys(process.env).filter((name) => name.startsWith('AWS_'));
  return Object.fromEntries([...names, ...awsNames].map((name) => [name, process.env[name]]));
}

const databaseUrl = (name: string) => {
  const url = new URL(process.env.DATABASE_URL ?? '');
  url.pathname = name;
  return url.href;
};

export async function queryDatabase(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/**
 * Creates a database from a migrated template. All sets share one graph, since Neo4j Community Edition has one database, and
 * are separated by ids: the first of the sets in use counts from 1, each later one from a timestamp.
 */
async function freshDatabase(t: Test, isFirst: boolean): Promise<string> {
  const admin = databaseUrl('postgres');
  const template = `template_${await schemaVersion()}`;
  const { rowCount } = await queryDatabase(admin, `select from pg_database where datname = '${template}'`);
  if (!rowCount) {
    await queryDatabase(admin, `create database ${template}`);
    const options = { url: databaseUrl(template), poolSize: 1, graphPoolSize: 1, timeoutMs: 5000 };
    const { maintenanceDb, close } = openPostgres(options, silentLog);
    await migratePostgres(maintenanceDb);
    await close();
  }
  const name = `test_${Date.now()}_${randomBytes(4).toString('hex')}`;
  await queryDatabase(admin, `create database ${name} template ${template}`);
  t.teardown(() => queryDatabase(admin, `drop database ${name} with (force)`));
  const url = databaseUrl(name);
  if (!isFirst) {
    const base = Date.now() * 1000;
    await queryDatabase(url, `select setval('accounts_id_seq', ${base}), setval('posts_id_seq', ${base})`);
  }
  return url;
}

async function freshBucket(t: Test): Promise<string> {
  const { CreateBucketCommand, DeleteBucketCommand, S3Client } = await import('@aws-sdk/client-s3');
  const s3 = new S3Client({ endpoint: process.env.S3_ENDPOINT ?? '', forcePathStyle: true });
  const Bucket = `test-${Date.now()}-${randomBytes(4).toString('hex')}`;
  await s3.send(new CreateBucketCommand({ Bucket }));
  // A bucket that is not empty remains for debugging.
  t.teardown(async () => {
    await s3.send(new DeleteBucketCommand({ Bucket })).catch(() => undefined);
    s3.destroy();
  });
  return Bucket;
}

export const queryGraph = (cypher: string, parameters = {}): Promise<Record<string, unknown>[]> =>
  withDriver(async (driver) => {
    const { records } = await driver.executeQuery(cypher, parameters);
    return records.map((record) => record.toObject());
  });

/** Empties the graph in batches: a single transaction could exceed the server's memory. */
export const emptyGraph = (): Promise<void> =>
  withDriver(async (driver) => {
    const session = driver.session();
    await session.run('MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS');
    await session.close();
  });

/** Connects to the Neo4j server that all sets share. */
export async function openDriver(): Promise<Driver> {
  const { NEO4J_URI = '', NEO4J_USERNAME = '', NEO4J_PASSWORD = '' } = process.env;
  const { default: neo4j } = await import('neo4j-driver');
  return neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USERNAME, NEO4J_PASSWORD));
}

async function withDriver<Result>(work: (driver: Driver) => Promise<Result>): Promise<Result> {
  const driver = await openDriver();
  try {
    return await work(driver);
  } finally {
    await driver.close();
  }
}

/** Settles when the latest start is over. */
let latestStart: Promise<unknown> = Promise.resolve();

/** Claims the shared graph for these stores, then starts a service, which checks the claim. Starts are serialized. */
export function withClaimedGraph<Started>(
  environment: NodeJS.ProcessEnv,
  start: () => Promise<Started>,
): Promise<Started> {
  const started = latestStart.then(() => claimGraphFor(environment)).then(start);
  latestStart = started.catch(() => undefined);
  return started;
}

/** Claims the shared graph for these stores. */
export async function claimGraphFor({ DATABASE_URL, NEO4J_URI }: NodeJS.ProcessEnv): Promise<void> {
  if (DATABASE_URL === undefined || NEO4J_URI === undefined) return;
  const { rows } = await queryDatabase(DATABASE_URL, 'select id::text from installation where graph is not null');
  await queryGraph('MATCH (i:Installation) DELETE i');
  if (rows[0]) await queryGraph('CREATE (:Installation {rank: 1, id: $id})', { id: rows[0].id });
}
