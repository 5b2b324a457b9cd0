import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { OWNER_ONLY_MODE } from '../../support/data-directory.js';
import { syncPath, syncTree } from '../../support/durable-files.js';
import { DurableNodeFS } from './durable-node-fs.js';

/*
 * Opens or creates the database cluster of PGlite (PostgreSQL compiled to WebAssembly).
 *
 * - Durability: every commit is synced to the disk.
 * - Creation: a new cluster is created under a temporary name, synced and renamed. So a crash leaves no cluster or a
 *   complete one.
 * - Protection: a directory is checked before PGlite opens it, because PGlite would overwrite a cluster that it does not
 *   recognize.
 * - Crashes: when PostgreSQL exits or crashes, its memory is in an undefined state. The thread then ends, and `server.ts`
 *   starts a new one.
 */

// V8 may crash the process when it frees WebAssembly code that it has replaced by optimized code. Keeping this code takes a few
// megabytes. See https://github.com/nodejs/node/issues/64500
setFlagsFromString('--no-wasm-code-gc');

/** The major version of PostgreSQL in PGlite. */
const MAJOR_VERSION = '18';

/** PGlite's defaults without `-F`, which turns off `fsync`. Emscripten ignores `fdatasync`, the default method. */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
  // Reuses the plans of prepared statements: planning a statement takes longer than running it.
  ...['-c', 'plan_cache_mode=force_generic_plan'],
  // The default, 128 MB, would be a third of the memory of the process. The operating system caches the files too.
  ...['-c', 'shared_buffers=32MB'],
];

/** The status of the exception by which PostgreSQL returns to its main loop after an error in a statement. */
const STATEMENT_ERROR_STATUS = 100;

/** Opens the cluster. */
export async function openCluster(directory: string): Promise<PGlite> {
  requireCluster(directory);
  chmodSync(directory, OWNER_ONLY_MODE);
  // After a power cut this file may be empty, and PostgreSQL would then refuse to start. It is safe to remove: no other
  // process uses the cluster, because the data directory is locked.
  const lockFile = join(directory, 'postmaster.pid');
  rmSync(lockFile, { force: true });
  try {
    const pglite = await start(directory);
    exitOnCrash(pglite);
    return pglite;
  } catch (error) {
    // PostgreSQL leaves the file when it fails to start.
    rmSync(lockFile, { force: true });
    throw error;
  }
}

/** Starts PostgreSQL. @throws Error with the last error message that PostgreSQL logged, if it does not start */
async function start(directory: string): Promise<PGlite> {
  const output: string[] = [];
  let isStarting = true;
  try {
    return await PGlite.create({
      fs: new DurableNodeFS(directory),
      startParams: START_PARAMETERS,
      onStderr(line) {
        if (isStarting) output.push(line);
        return true;
      },
    });
  } catch (error) {
    throw new Error(lastErrorIn(output) ?? String(error), { cause: error });
  } finally {
    isStarting = false;
  }
}

/** Creates the cluster under a temporary name, syncs it and renames it. */
export async function createCluster(directory: string): Promise<void> {
  const incomplete = `${directory}.new`;
  rmSync(incomplete, { recursive: true, force: true });
  // A private directory around it, because PostgreSQL lets the group read a cluster while it creates it.
  mkdirSync(incomplete, { mode: OWNER_ONLY_MODE });
  const cluster = join(incomplete, 'cluster');
  const pglite = await start(cluster);
  await pglite.close();
  chmodSync(cluster, OWNER_ONLY_MODE);
  syncTree(cluster);
  renameSync(cluster, directory);
  rmSync(incomplete, { recursive: true });
  syncPath(dirname(directory));
}

/** Throws an error if the directory does not contain a cluster of this major version. */
function requireCluster(directory: string): void {
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

/** Ends the thread when PostgreSQL exits or crashes. PGlite itself would continue to use the memory of PostgreSQL. */
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
