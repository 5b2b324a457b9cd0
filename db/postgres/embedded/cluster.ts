import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { OWNER_ONLY_MODE } from '../../support/data-directory.js';
import { syncPath, syncTree } from '../../support/durable-files.js';
import { DurableNodeFS } from './durable-node-fs.js';
import type { WorkerInput } from './messages.js';

/**
 * Opens or creates the database cluster of PGlite (PostgreSQL compiled to WebAssembly), durably.
 *
 * Every commit is synced to the disk. A cluster is created under a temporary name, synced and renamed, so that a crash leaves
 * either no cluster or a complete one. An existing directory is checked before PGlite opens it, because PGlite would overwrite
 * a cluster that it does not recognize. The thread ends when PostgreSQL exits or crashes, because its memory is then in an
 * undefined state; `server.ts` starts a new thread.
 */

/** The major version of PostgreSQL in PGlite. */
const MAJOR_VERSION = '18';

/** PGlite's defaults, but with fsync. Emscripten ignores `fdatasync`, which is PostgreSQL's default method. */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
  // Planning a statement takes longer than running it.
  ...['-c', 'plan_cache_mode=force_generic_plan'],
];

/** The exit status that PostgreSQL throws to return to its main loop after an error in a statement. */
const STATEMENT_ERROR_STATUS = 100;

/** Opens the cluster, which is created first if missing and `create` is set. Rejects with PostgreSQL's reason if it cannot. */
export async function openCluster({ directory, create }: WorkerInput): Promise<PGlite> {
  if (create && !existsSync(directory)) await createCluster(directory);
  checkFiles(directory);
  chmodSync(directory, OWNER_ONLY_MODE);
  // A power cut can leave the file empty, and PostgreSQL then refuses to start. No other process can be running here, because
  // the data directory is locked.
  rmSync(join(directory, 'postmaster.pid'), { force: true });
  const output: string[] = [];
  try {
    const pglite = await start(directory, output);
    exitOnCrash(pglite);
    return pglite;
  } catch (error) {
    // PostgreSQL does not remove the file when it fails to start.
    rmSync(join(directory, 'postmaster.pid'), { force: true });
    throw new Error(lastErrorIn(output) ?? String(error), { cause: error });
  }
}

const start = (directory: string, output: string[] = []) =>
  PGlite.create({
    fs: new DurableNodeFS(directory),
    startParams: START_PARAMETERS,
    onStderr: (line) => output.push(line) > 0,
  });

async function createCluster(directory: string): Promise<void> {
  const incomplete = `${directory}.new`;
  rmSync(incomplete, { recursive: true, force: true });
  const pglite = await start(incomplete);
  await pglite.close();
  syncTree(incomplete);
  renameSync(incomplete, directory);
  syncPath(dirname(directory));
}

/** Throws if the directory contains no cluster of this version. */
function checkFiles(directory: string): void {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw new Error('there is no such directory');
  const file = join(directory, 'PG_VERSION');
  if (!existsSync(file)) throw new Error('the file PG_VERSION is missing');
  const version = readFileSync(file, 'utf8').trim();
  if (version !== MAJOR_VERSION) {
    throw new Error(`PG_VERSION is ${JSON.stringify(version.slice(0, 20))}, but this is PostgreSQL ${MAJOR_VERSION}`);
  }
}

/** Returns the message of the last error that PostgreSQL logged. */
function lastErrorIn(output: readonly string[]): string | undefined {
  const line = output.findLast((line) => /\b(FATAL|PANIC|ERROR):/.test(line));
  return line?.replace(/^.*?\b(?:FATAL|PANIC|ERROR): */, '');
}

/** Ends the thread when PostgreSQL exits or crashes. PGlite would continue to use its memory. */
function exitOnCrash(pglite: PGlite): void {
  const module = pglite.Module as unknown as Record<'_PostgresMainLoopOnce', () => void>;
  const run = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      run();
    } catch (error) {
      if ((error as { status?: unknown }).status !== STATEMENT_ERROR_STATUS) process.exit(1);
      throw error;
    }
  };
}
