import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { OWNER_ONLY } from '../../support/data-directory.js';
import { syncPath, syncTree } from '../../support/durable-files.js';
import { DurableNodeFS } from './durable-node-fs.js';
import type { WorkerInput } from './messages.js';

/** PostgreSQL's major version in PGlite. */
const VERSION = '18';

/** PGlite's own, but each commit is forced to the disk. Emscripten ignores `fdatasync`, which is PostgreSQL's default. */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
  // Each statement is planned once: planning one anew takes it longer than to run it.
  ...['-c', 'plan_cache_mode=force_generic_plan'],
];

/** What PostgreSQL throws to get back to its main loop after an error in a statement. */
const ERROR_IN_STATEMENT = 100;

/**
 * Opens the cluster in this directory, or creates one there. Blocks this thread, and ends it as soon as PostgreSQL fails in
 * a way after which its memory cannot be trusted. Rejects with the reason why a directory cannot be opened.
 */
export async function openCluster({ directory, create }: WorkerInput): Promise<PGlite> {
  if (create && !existsSync(directory)) await createCluster(directory);
  checkFiles(directory);
  chmodSync(directory, OWNER_ONLY);
  // PostgreSQL refuses one that a power cut has left empty. That no other process is here, the lock of the data directory says.
  rmSync(join(directory, 'postmaster.pid'), { force: true });
  const output: string[] = [];
  try {
    const pglite = await start(directory, output);
    endWithPostgres(pglite);
    return pglite;
  } catch (error) {
    // PostgreSQL leaves it behind when it does not start.
    rmSync(join(directory, 'postmaster.pid'), { force: true });
    throw new Error(reasonIn(output) ?? String(error), { cause: error });
  }
}

const start = (directory: string, output: string[] = []) =>
  PGlite.create({
    fs: new DurableNodeFS(directory),
    startParams: START_PARAMETERS,
    onStderr: (line) => output.push(line) > 0,
  });

/** A cluster is made under another name first: one that is killed half-way is thrown away, not opened. */
async function createCluster(directory: string): Promise<void> {
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const pglite = await start(unfinished);
  await pglite.close();
  syncTree(unfinished);
  renameSync(unfinished, directory);
  syncPath(dirname(directory));
}

/** PGlite would write a new cluster over one that it does not recognize. */
function checkFiles(directory: string): void {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw new Error('there is no such directory');
  const file = join(directory, 'PG_VERSION');
  if (!existsSync(file)) throw new Error('the file PG_VERSION is missing');
  const version = readFileSync(file, 'utf8').trim();
  if (version !== VERSION) {
    throw new Error(`PG_VERSION says ${JSON.stringify(version.slice(0, 20))}, and this is PostgreSQL ${VERSION}`);
  }
}

/** PostgreSQL says in its last line with such a level why it does not start. */
function reasonIn(output: readonly string[]): string | undefined {
  const line = output.findLast((line) => /\b(FATAL|PANIC|ERROR):/.test(line));
  return line?.replace(/^.*?\b(?:FATAL|PANIC|ERROR): */, '');
}

/** PGlite would go on after PostgreSQL has exited or crashed. */
function endWithPostgres(pglite: PGlite): void {
  const module = pglite.Module as unknown as Record<'_PostgresMainLoopOnce', () => void>;
  const run = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      run();
    } catch (error) {
      if ((error as { status?: unknown }).status !== ERROR_IN_STATEMENT) process.exit(1);
      throw error;
    }
  };
}
