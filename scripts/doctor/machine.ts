import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { RESERVE_BYTES, readFreeBytes } from '../../db/postgres/free-space.js';
import type { Config } from '../../handlers/config/index.js';
import { readConnectionLimits, readMaxOpenFiles } from '../../handlers/http/connections.js';
import { type CheckRow, type Finding, failed, ok, runChecks, warning } from './checks.js';

/** Enough for the WAL of the embedded database, and for some images. */
const LOW_FREE_BYTES = 1024 ** 3;

const MEBIBYTE = 1024 ** 2;

/** The files that a process opens besides client connections and configurable pools: other pools, uploads, modules. */
const OTHER_FILES = 64;

/** Checks the limits of this process and the disk of `DATA_DIR`. Changes nothing, and does not open the embedded database. */
export async function checkMachine(config: Config): Promise<CheckRow[]> {
  const root = resolve(config.stores.dataDir);
  return [
    ...(await runChecks(['open files', () => checkOpenFiles(config)])),
    ...(existsSync(root) ? await runChecks(['DATA_DIR', () => checkDirectory(root)]) : []),
    ...(await runChecks(['free disk space', () => checkFreeSpace(root, config.stores.postgres === undefined)])),
  ];
}

/** Checks the limit of open files of this process. A service manager may set another one for the service. */
async function checkOpenFiles({ stores: { postgres, neo4j, s3 } }: Config): Promise<Finding> {
  const [files, { max }] = [await readMaxOpenFiles(), await readConnectionLimits()];
  const pools =
    (postgres ? postgres.poolSize + postgres.graphPoolSize : 0) + (neo4j?.poolSize ?? 0) + (s3?.poolSize ?? 0);
  const description = `ulimit -n ${files}: up to ${max} client connections in each process`;
  if (max + pools + OTHER_FILES <= files) return ok(description);
  return warning(`${description}, which leaves too few files for the stores: raise the limit, or lower the pools`);
}

async function checkDirectory(root: string): Promise<Finding> {
  const { uid, mode } = await stat(root);
  const description = `${root}: mode ${(mode & 0o777).toString(8)}, owner ${uid}`;
  const user = process.getuid?.() ?? uid;
  if (uid === user) return ok(description);
  return warning(`${description}, but this is user ${user}: run this command as the service's user`);
}

/** Returns the path, or its nearest parent that exists. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)));

async function checkFreeSpace(root: string, isEmbedded: boolean): Promise<Finding> {
  const freeBytes = await readFreeBytes(nearestExisting(root));
  const description = `${Math.floor(freeBytes / MEBIBYTE)} MiB`;
  if (isEmbedded && freeBytes < RESERVE_BYTES) {
    return failed(`${description}: the service refuses writes below ${RESERVE_BYTES / MEBIBYTE} MiB`);
  }
  return freeBytes < LOW_FREE_BYTES ? warning(`${description}: nearly full`) : ok(description);
}
