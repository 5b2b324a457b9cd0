import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import neo4j from 'neo4j-driver';
import pg from 'pg';
import { runningServers } from '../services/control.js';
import { down } from '../services/down.js';
import { SERVER_NAMES } from '../services/state.js';
import { up } from '../services/up.js';
import { variables } from '../services/variables.js';
import type { StackName } from './goals.js';

/** Creates and removes the stores of a benchmark run. */
export interface Stack {
  name: StackName;
  /** A temporary folder for logs and data, removed by `close`. */
  folder: string;
  /** Removes the previous stores, creates empty ones, and returns their environment variables. */
  createEmptyStores(): Promise<NodeJS.ProcessEnv>;
  /** Removes the stores and stops the servers that `openStack` started. */
  close(): Promise<void>;
}

export async function openStack(name: StackName): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    return name === 'embedded' ? openEmbedded(folder, removeFolder) : await openServices(folder, removeFolder);
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function createEmptyDirectory(folder: string): Promise<string> {
  const directory = join(folder, 'data');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  return directory;
}

function openEmbedded(folder: string, close: () => Promise<void>): Stack {
  return {
    name: 'embedded',
    folder,
    createEmptyStores: async () => ({ DATA_DIR: await createEmptyDirectory(folder) }),
    close,
  };
}

/**
 * Starts the servers of `npm run services`. Ignores DATABASE_URL, NEO4J_URI and S3_ENDPOINT, because a run deletes all data
 * in its graph.
 * Rate limits are counted in memory, without Redis.
 */
async function openServices(folder: string, removeFolder: () => Promise<void>): Promise<Stack> {
  // The servers may run as other users, which must be able to read the files.
  process.umask(0o022);
  const alreadyRunning = runningServers();
  const stopServers = () => down(SERVER_NAMES.filter((server) => !alreadyRunning.includes(server)));
  const state = await up().catch(async (error) => {
    await stopServers();
    throw error;
  });
  const { REDIS_URL: _, TOXIPROXY_URL: __, SERVICES_DIR: ___, ...storeVariables } = variables(state);
  // The AWS SDK reads its variables from the environment.
  for (const [name, value] of Object.entries(storeVariables)) if (name.startsWith('AWS_')) process.env[name] = value;
  const adminUrl = storeVariables.DATABASE_URL ?? '';
  const s3 = new S3Client({ endpoint: storeVariables.S3_ENDPOINT ?? '', forcePathStyle: true });
  let created: { database: string; bucket: string } | undefined;
  const removeStores = async () => {
    if (created) {
      await runStatement(adminUrl, `drop database if exists ${created.database} with (force)`);
      await removeBucket(s3, created.bucket);
      created = undefined;
    }
    await emptyGraph(storeVariables);
  };
  return {
    name: 'services',
    folder,
    async createEmptyStores() {
      await removeStores();
      const name = `bench-${randomBytes(6).toString('hex')}`;
      const database = name.replace('-', '_');
      await s3.send(new CreateBucketCommand({ Bucket: name }));
      created = { database, bucket: name };
      await runStatement(adminUrl, `create database ${database}`);
      const url = new URL(adminUrl);
      url.pathname = database;
      return {
        ...storeVariables,
        ...TIMEOUT_VARIABLES,
        DATABASE_URL: url.href,
        S3_BUCKET: name,
        DATA_DIR: await createEmptyDirectory(folder),
      };
    },
    async close() {
      await removeStores();
      s3.destroy();
      await stopServers();
      await removeFolder();
    },
  };
}

/** Long timeouts, in milliseconds, so that a slow machine lowers the figures instead of causing errors. */
const TIMEOUT_VARIABLES = { DATABASE_TIMEOUT: '20000', NEO4J_TIMEOUT: '20000', S3_TIMEOUT: '20000' };

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** In batches, because a transaction must fit into the server's memory. */
const DELETE_STATEMENTS = [
  'MATCH ()-[relation]->() CALL { WITH relation DELETE relation } IN TRANSACTIONS OF 20000 ROWS',
  'MATCH (node) CALL { WITH node DELETE node } IN TRANSACTIONS OF 20000 ROWS',
];

async function emptyGraph({ NEO4J_URI = '', NEO4J_USERNAME = '', NEO4J_PASSWORD = '' }: NodeJS.ProcessEnv) {
  const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USERNAME, NEO4J_PASSWORD));
  const session = driver.session();
  try {
    for (const statement of DELETE_STATEMENTS) await session.run(statement);
  } finally {
    await session.close();
    await driver.close();
  }
}

async function removeBucket(client: S3Client, Bucket: string): Promise<void> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    const Objects = Contents.map(({ Key }) => ({ Key }));
    if (Objects.length > 0) await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  }
  await client.send(new DeleteBucketCommand({ Bucket }));
}
