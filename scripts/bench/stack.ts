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
import { living } from '../services/control.js';
import { down } from '../services/down.js';
import { SERVER_NAMES } from '../services/state.js';
import { up } from '../services/up.js';
import { variables } from '../services/variables.js';
import type { StackName } from './goals.js';

/** Where the stores are that everything runs on. */
export interface Stack {
  name: StackName;
  /** For whatever the bench writes. */
  folder: string;
  /** The variables of an empty set of stores, in place of the one before it. */
  fresh(): Promise<NodeJS.ProcessEnv>;
  /** Stops what was started, and removes what was made. */
  close(): Promise<void>;
}

export async function openStack(name: StackName): Promise<Stack> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    return name === 'embedded' ? embedded(folder, remove) : await services(folder, remove);
  } catch (error) {
    await remove();
    throw error;
  }
}

async function freshDirectory(folder: string): Promise<string> {
  const directory = join(folder, 'data');
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory);
  return directory;
}

function embedded(folder: string, close: () => Promise<void>): Stack {
  return { name: 'embedded', folder, fresh: async () => ({ DATA_DIR: await freshDirectory(folder) }), close };
}

/**
 * The servers of `npm run services`, and never others that the environment names: their graph, of which there is one, is
 * emptied. Requests are counted in memory, as by one process alone.
 */
async function services(folder: string, remove: () => Promise<void>): Promise<Stack> {
  // What the servers' own users read.
  process.umask(0o022);
  const before = living();
  const stop = () => down(SERVER_NAMES.filter((each) => !before.includes(each)));
  const state = await up().catch(async (error) => {
    await stop();
    throw error;
  });
  const { REDIS_URL: _, TOXIPROXY_URL: __, SERVICES_DIR: ___, ...named } = variables(state);
  // The AWS SDK looks for its own variables in the environment.
  for (const [each, value] of Object.entries(named)) if (each.startsWith('AWS_')) process.env[each] = value;
  const admin = named.DATABASE_URL ?? '';
  const s3 = new S3Client({ endpoint: named.S3_ENDPOINT ?? '', forcePathStyle: true });
  let made: { database: string; bucket: string } | undefined;
  const drop = async () => {
    if (made) {
      await inDatabase(admin, `drop database if exists ${made.database} with (force)`);
      await removeBucket(s3, made.bucket);
      made = undefined;
    }
    await emptyGraph(named);
  };
  return {
    name: 'services',
    folder,
    async fresh() {
      await drop();
      const name = `bench-${randomBytes(6).toString('hex')}`;
      const database = name.replace('-', '_');
      await s3.send(new CreateBucketCommand({ Bucket: name }));
      made = { database, bucket: name };
      await inDatabase(admin, `create database ${database}`);
      const url = new URL(admin);
      url.pathname = database;
      return {
        ...named,
        ...PATIENT,
        DATABASE_URL: url.href,
        S3_BUCKET: name,
        DATA_DIR: await freshDirectory(folder),
      };
    },
    async close() {
      await drop();
      s3.destroy();
      await stop();
      await remove();
    },
  };
}

/** A machine that is slow for once is slow, and nothing is wrong with its answers; in milliseconds. */
const PATIENT = { DATABASE_TIMEOUT: '20000', NEO4J_TIMEOUT: '20000', S3_TIMEOUT: '20000' };

async function inDatabase(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** In pieces: what one transaction holds has to fit into memory. */
const EMPTY = [
  'MATCH ()-[tie]->() CALL { WITH tie DELETE tie } IN TRANSACTIONS OF 20000 ROWS',
  'MATCH (node) CALL { WITH node DELETE node } IN TRANSACTIONS OF 20000 ROWS',
];

async function emptyGraph({ NEO4J_URI = '', NEO4J_USERNAME = '', NEO4J_PASSWORD = '' }: NodeJS.ProcessEnv) {
  const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USERNAME, NEO4J_PASSWORD));
  const session = driver.session();
  try {
    for (const statement of EMPTY) await session.run(statement);
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
