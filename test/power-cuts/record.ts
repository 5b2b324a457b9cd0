import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Lifetime } from '../support/lifetime.js';
import { HIGH_RATE_LIMITS } from '../support/processes.js';
import { createRandom } from '../support/random.js';
import type { CompletedRequest } from './facts.js';
import { Client, longText } from './load.js';
import { type DiskOperation, now, readOperations } from './trace.js';

/** A phase of the recorded service. It lasts from `at`, in nanoseconds by the clock of the trace, until the next phase. */
interface Phase {
  name: string;
  at: number;
}

/** All requests to a service since its first start, and all disk operations of its stores. */
export interface Recording {
  /** The parent of the data directory. Only operations in it are recorded. It is empty at first, and survives any power cut. */
  root: string;
  phases: Phase[];
  requests: CompletedRequest[];
  operations: DiskOperation[];
}

type Metadata = Omit<Recording, 'operations'>;

const METADATA_FILE = 'metadata.json';

export async function readRecording(directory: string): Promise<Recording> {
  const metadata: Metadata = JSON.parse(await readFile(join(directory, METADATA_FILE), 'utf8'));
  return { ...metadata, operations: readOperations(directory) };
}

/** Returns the path of the data directory in a root. */
export const dataDirectoryIn = (root: string) => join(root, 'data');

/** Starts a service whose stores are recorded. */
async function startRecordedService(t: Lifetime, directory: string, root: string) {
  const here = (name: string) => resolve('.build/test/power-cuts', name);
  const child = fork(here('service.js'), {
    env: {
      ...HIGH_RATE_LIMITS,
      PATH: process.env.PATH,
      LOG_LEVEL: 'warn',
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: dataDirectoryIn(root),
      NODE_OPTIONS: `--import ${pathToFileURL(here('recorder.js'))}`,
      RECORD_BELOW: root,
      RECORD_TO: directory,
    },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [{ url }] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => Promise.reject(new Error(`The recorded service exited with ${code}`))),
  ]);
  return {
    url: url as string,
    /** Executes an SQL statement in the service and returns its rows. */
    async query(statement: string): Promise<Record<string, unknown>[]> {
      child.send(statement);
      const [{ rows }] = await once(child, 'message');
      return rows;
    },
    async end(signal: NodeJS.Signals): Promise<void> {
      child.kill(signal);
      await exited;
    },
  };
}

const CLIENTS = 4;

/**
 * Runs a service on an empty directory through all phases that write: the first start, requests, checkpoints, a switch of the
 * WAL segment, a stop, a kill, and the starts after them.
 *
 * @param directory an existing directory for the trace
 * @param root an existing, empty directory, in which the service creates its data directory
 */
export async function record(t: Lifetime, directory: string, root: string, seed: string): Promise<Recording> {
  const phases: Phase[] = [];
  const requests: CompletedRequest[] = [];
  const begin = (name: string) => phases.push({ name, at: now() });

  begin('first start');
  let service = await startRecordedService(t, directory, root);
  const createClient = (name: string, index: number) =>
    new Client(name, createRandom(seed, index), requests, () => service.url);
  const clients = Array.from({ length: CLIENTS }, (_, index) => createClient(`client${index}`, index));
  const [friend, leaver] = [createClient('friend', CLIENTS), createClient('leaver', CLIENTS + 1)];
  const load = (steps: number) =>
    Promise.all(
      clients.map(async (client) => {
        for (let step = 0; step < steps; step += 1) {
          const others = clients.filter((other) => other !== client);
          await client.step(others, friend);
        }
      }),
    );

  begin('first requests');
  for (const client of [...clients, friend, leaver]) {
    await client.register();
    await client.createPost();
  }
  begin('requests');
  await load(12);
  await leaver.addDevice();
  await leaver.createPost();
  await leaver.deleteAccount();
  begin('checkpoint');
  await Promise.all([load(3), service.query('checkpoint')]);
  begin('requests after a checkpoint');
  await load(6);
  begin('WAL segment');
  const segment = async () => (await service.query('select pg_walfile_name(pg_current_wal_lsn()) as name'))[0]?.name;
  const firstSegment = await segment();
  do {
    await Promise.all(
      clients.map(async (client) => {
        await client.createPost();
        const [post] = client.posts;
        for (let edit = 0; post && edit < 5; edit += 1) await client.editPost(post, longText(client.random, 9_999));
      }),
    );
  } while ((await segment()) === firstSegment);
  await load(4);
  begin('stop');
  await service.end('SIGTERM');
  begin('start');
  service = await startRecordedService(t, directory, root);
  begin('requests');
  await load(4);
  begin('checkpoint');
  await Promise.all([load(2), service.query('checkpoint')]);
  await load(2);
  await service.end('SIGKILL');
  begin('start after a kill');
  service = await startRecordedService(t, directory, root);
  begin('requests');
  await load(4);
  begin('stop');
  await service.end('SIGTERM');

  const metadata: Metadata = { root, phases, requests };
  await writeFile(join(directory, METADATA_FILE), JSON.stringify(metadata));
  return { ...metadata, operations: readOperations(directory) };
}
