import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, DeleteObjectsCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import neo4j from 'neo4j-driver';
import pg from 'pg';
import { CommandError } from '../support/command-error.js';

const variables = process.env;

/** The stores that are measured: real servers if their variables are set, for example by `npm run services -- run`. */
const STACK = variables.DATABASE_URL === undefined ? 'embedded' : 'services';

const [DATABASE, DATABASE_COPY, BUCKET] = ['bench', 'bench_copy', 'bench'];

/** Long timeouts, in milliseconds, so that a slow machine lowers the figures instead of causing errors. */
const TIMEOUTS = { DATABASE_TIMEOUT: '20000', NEO4J_TIMEOUT: '20000', S3_TIMEOUT: '20000', REDIS_TIMEOUT: '20000' };

/** Removes the stores of the benchmark, creates empty ones, and returns their environment variables. */
export async function createEmptyStores(folder: string): Promise<NodeJS.ProcessEnv> {
  await removeStores();
  const DATA_DIR = await emptyFolder(folder, 'data');
  if (STACK === 'embedded') return { DATA_DIR };
  await runStatement(`create database ${DATABASE}`);
  const isStoreVariable = (name: string) => /^(NEO4J|S3|AWS|REDIS|TOKEN)_/.test(name);
  const shared = Object.fromEntries(Object.entries(variables).filter(([name]) => isStoreVariable(name)));
  return { ...shared, ...TIMEOUTS, DATABASE_URL: databaseUrl(DATABASE), S3_BUCKET: BUCKET, DATA_DIR };
}

/** Copies stores that no process uses, for a second process. On real servers, both processes share graph and images. */
export async function copyStores(environment: NodeJS.ProcessEnv, folder: string): Promise<NodeJS.ProcessEnv> {
  const DATA_DIR = await emptyFolder(folder, 'copy');
  await cp(environment.DATA_DIR ?? '', DATA_DIR, { recursive: true });
  if (STACK === 'embedded') return { DATA_DIR };
  await runStatement(`create database ${DATABASE_COPY} template ${DATABASE}`);
  return { ...environment, DATABASE_URL: databaseUrl(DATABASE_COPY), DATA_DIR };
}

/** Removes the benchmark's databases and images, and the whole graph. */
export async function removeStores(): Promise<void> {
  if (STACK === 'embedded') return;
  if (variables.SERVICES_DIR === undefined) {
    throw new CommandError('The benchmark deletes all data in the graph: npm run services -- run -- npm run bench');
  }
  for (const name of [DATABASE, DATABASE_COPY]) await runStatement(`drop database if exists ${name} with (force)`);
  await emptyGraph();
  await emptyBucket();
}

async function emptyFolder(...path: string[]): Promise<string> {
  const folder = join(...path);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  return folder;
}

const databaseUrl = (name: string) => new URL(name, variables.DATABASE_URL).href;

async function runStatement(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: variables.DATABASE_URL });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function emptyGraph(): Promise<void> {
  const { NEO4J_URI = '', NEO4J_USERNAME = '', NEO4J_PASSWORD = '' } = variables;
  const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USERNAME, NEO4J_PASSWORD));
  const session = driver.session();
  try {
    // Deletes in batches, because a transaction must fit into the server's memory.
    await session.run('MATCH ()-[edge]->() CALL (edge) { DELETE edge } IN TRANSACTIONS OF 20000 ROWS');
    await session.run('MATCH (node) CALL (node) { DELETE node } IN TRANSACTIONS OF 20000 ROWS');
  } finally {
    await session.close();
    await driver.close();
  }
}

/** Deletes all images, and creates the bucket if it does not exist. */
async function emptyBucket(): Promise<void> {
  const client = new S3Client({ endpoint: variables.S3_ENDPOINT ?? '', forcePathStyle: true });
  const Bucket = BUCKET;
  await client.send(new CreateBucketCommand({ Bucket })).catch((error: Error) => {
    if (!error.name.startsWith('BucketAlready')) throw error;
  });
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    const Objects = Contents.map(({ Key }) => ({ Key }));
    if (Objects.length > 0) await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  }
  client.destroy();
}
