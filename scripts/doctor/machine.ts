import { existsSync } from 'node:fs';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname } from 'node:path';
import { diskImages } from '../../db/images/disk.js';
import type { Installation } from '../../db/installation.js';
import { RESERVE_BYTES, readFreeBytes } from '../../db/postgres/free-space.js';
import { pathsIn, UnfinishedRestoreError } from '../../db/support/data-directory.js';
import type { Config } from '../../handlers/config/index.js';
import { controlSocketPath } from '../../handlers/control.js';
import { readConnectionLimits, readMaxOpenFiles } from '../../handlers/http/connections.js';
import { type Check, type CheckResult, checkClaim, failed, ok, skipped, warning } from './checks.js';

/** Enough for the WAL of the embedded database, and for some images. */
const LOW_FREE_BYTES = 1024 ** 3;

const MEBIBYTE = 1024 ** 2;

type Paths = ReturnType<typeof pathsIn>;

/** The files that a process opens besides client connections and configurable pools: other pools, uploads, modules. */
const OTHER_FILES = 64;

/** Returns the checks of the process limits and of `DATA_DIR`. They change nothing and do not open the embedded database. */
export function machineChecks(config: Config, installation: Installation | undefined): Check[] {
  const { stores } = config;
  const paths = pathsIn(stores.dataDir);
  const images = diskImages(paths.images);
  const imageChecks: Check[] = [
    ['images in DATA_DIR', () => images.check().then(() => ok('readable and writable'))],
    // The embedded database is not opened, so its installation is not known.
    ...(stores.postgres ? [['images installation', () => checkClaim(installation, 'images', images)] as const] : []),
  ];
  return [
    ['open files', () => checkOpenFiles(config)],
    ['DATA_DIR', () => checkDirectory(paths)],
    ['free disk space', () => checkFreeSpace(paths.root, stores.postgres === undefined)],
    ...(stores.s3 || !existsSync(paths.images) ? [] : imageChecks),
    ...(stores.postgres ? [] : [['embedded database', () => checkEmbedded(paths)] as const]),
  ];
}

/** Checks the limit of open files of this process. A service manager may set another one for the service. */
async function checkOpenFiles({ stores: { postgres, neo4j, s3 } }: Config): Promise<CheckResult> {
  const [files, { max }] = [await readMaxOpenFiles(), await readConnectionLimits()];
  const pools =
    (postgres ? postgres.poolSize + postgres.graphPoolSize : 0) + (neo4j?.poolSize ?? 0) + (s3?.poolSize ?? 0);
  const needed = max + pools + OTHER_FILES;
  const description = `ulimit -n ${files}: up to ${max} client connections in each process`;
  if (needed <= files) return ok(description);
  return warning(`${description}, which leaves too few files for the stores: raise the limit, or lower the pools`);
}

async function checkDirectory({ root, restoring }: Paths): Promise<CheckResult> {
  if (!existsSync(root)) {
    // The trailing slash rejects a regular file.
    await access(`${nearestExisting(root)}/`, constants.W_OK | constants.X_OK);
    return ok(`${root}: the first start creates it`);
  }
  if (existsSync(restoring)) throw new UnfinishedRestoreError(root);
  await access(root, constants.R_OK | constants.W_OK | constants.X_OK);
  const { uid, mode } = await stat(root);
  const description = `${root}: mode ${(mode & 0o777).toString(8)}, owner ${uid}`;
  const user = process.getuid?.() ?? uid;
  if (uid !== user) return warning(`${description}, but this is user ${user}: run this command as the service's user`);
  if (mode & 0o022) return warning(`${description}: other users can change it; chmod 700`);
  return ok(description);
}

/** Returns the path, or its nearest parent that exists. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)));

async function checkFreeSpace(root: string, isEmbedded: boolean): Promise<CheckResult> {
  const freeBytes = await readFreeBytes(nearestExisting(root));
  const description = `${Math.floor(freeBytes / MEBIBYTE)} MiB`;
  if (isEmbedded && freeBytes < RESERVE_BYTES) {
    return failed(`${description}: the service refuses writes below ${RESERVE_BYTES / MEBIBYTE} MiB`);
  }
  return freeBytes < LOW_FREE_BYTES ? warning(`${description}: nearly full`) : ok(description);
}

/** Checks the embedded database without opening it, which would replay WAL and prevent a service from starting. */
async function checkEmbedded({ postgres, control, lock }: Paths): Promise<CheckResult> {
  if (!existsSync(postgres)) return ok('none yet: the first start creates it');
  if (!(await isServiceRunning(control)))
    return skipped('not opened, and no service uses it: npm run verify checks it');
  const pid = (await readFile(lock, 'utf8')).trim();
  return skipped(`not opened: process ${pid} uses it. See /readyz and /metrics of the service`);
}

/** Returns whether a service responds on the control socket in this directory. */
const isServiceRunning = (control: string) =>
  new Promise<boolean>((resolveResult) => {
    request({ socketPath: controlSocketPath(control), path: '/' }, (response) => {
      response.resume();
      resolveResult(true);
    })
      .on('error', () => resolveResult(false))
      .end();
  });
