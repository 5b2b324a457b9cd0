import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { MARKER_FILE } from '../../db/images/disk.js';
import { RESERVE_BYTES, readFreeBytes } from '../../db/postgres/free-space.js';
import { pathsIn } from '../../db/support/data-directory.js';
import type { Config } from '../../handlers/config/index.js';
import { type Check, type CheckResult, type CheckRow, failed, ok, runChecks, warning } from './checks.js';

/** Enough for the WAL of the embedded database, and for some images. */
const LOW_FREE_BYTES = 1024 ** 3;

const MEBIBYTE = 1024 ** 2;

/** Checks the disk of `DATA_DIR`. Changes nothing, and does not open the embedded database. */
export async function checkMachine(config: Config): Promise<CheckRow[]> {
  const root = resolve(config.stores.dataDir);
  return [
    ...(existsSync(root) ? await runChecks(['DATA_DIR', () => checkDirectory(root)]) : []),
    ...(await runChecks(...checkMoved(config.stores))),
    ...(await runChecks(['free disk space', () => checkFreeSpace(root, config.stores.postgres === undefined)])),
  ];
}

async function checkDirectory(root: string): Promise<CheckResult> {
  const stats = await stat(root);
  if (!stats.isDirectory()) return failed(`${root} is not a directory`);
  const { uid, mode } = stats;
  const description = `${root}: mode ${(mode & 0o777).toString(8)}, owner ${uid}`;
  const user = process.getuid?.() ?? uid;
  if (uid === user) return ok(description);
  return warning(`${description}, but this is user ${user}: run this command as the service's user`);
}

/** Checks whether `npm run move` has moved the embedded stores away. The embedded database also says so, but is not opened. */
function checkMoved({ dataDir, postgres, s3 }: Config['stores']): Check[] {
  const { root, postgres: database, images } = pathsIn(dataDir);
  const check = (found: CheckResult): Check[] => [['embedded stores', () => found]];
  if (!existsSync(database)) return [];
  if (postgres) return check(warning(`${root} contains a database that is not used, for example of before a move`));
  if (s3 || existsSync(join(images, MARKER_FILE))) return [];
  const reason = 'npm run move has moved it away, or has not finished moving into it';
  return check(failed(`${root} has no installation marker: ${reason}. Use the variables of the new stores`));
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
