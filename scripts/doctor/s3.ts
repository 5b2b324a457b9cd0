import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { ImageStore } from '../../db/images/index.js';
import type { S3Options } from '../../db/images/s3.js';
import type { Installation } from '../../db/installation.js';
import {
  CALL_TIMEOUT_MS,
  type CheckResult,
  checkClaim,
  compareClock,
  failed,
  messageOf,
  ok,
  type Row,
  runChecks,
  silentLog,
  timedCall,
} from './checks.js';

/** Checks a bucket. Probes permissions with an object, which it deletes. */
export async function checkS3(options: S3Options, installation: Installation | undefined): Promise<Row[]> {
  const { openS3 } = await import('../../db/images/s3.js');
  const endpoint = new URL(options.endpoint ?? `https://s3.${process.env.AWS_REGION || 'us-east-1'}.amazonaws.com`);
  const readDate = async () => {
    // Every response has a date, even without credentials. Amazon S3 responds with a redirect to its web site, which may not
    // be reachable from this machine.
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const { headers } = await fetch(endpoint.origin, { redirect: 'manual', signal });
    return Date.parse(headers.get('date') ?? '');
  };
  // Opened within a check, because opening fails without a region.
  let images: ImageStore | undefined;
  const withImages = (check: (store: ImageStore) => Promise<CheckResult>) => async () => {
    // The empty path is never used: only large downloads are buffered in the directory, and the probe object is small.
    images ??= await openS3({ ...options, timeoutMs: CALL_TIMEOUT_MS }, '', silentLog);
    return check(images);
  };
  const describe = (duration: string) =>
    `bucket ${options.bucket} at ${endpoint.host}, ${endpoint.protocol === 'https:' ? 'TLS' : 'no TLS'}, ${duration}`;
  return runChecks(
    [
      ['S3', withImages(async (store) => ok(describe((await timedCall(store.check)).duration)))],
      ['S3 clock', () => compareClock(readDate, 1000)],
      ['S3 permissions', withImages(checkPermissions)],
      ['S3 installation', withImages((store) => checkClaim(installation, 'images', store))],
    ],
    async () => images?.close(),
  );
}

/** Not an image: `npm run verify` and the service ignore names that begin with a dot. */
const probeName = () => `.doctor-${process.pid}-${Date.now()}`;

async function checkPermissions(images: ImageStore): Promise<CheckResult> {
  const name = probeName();
  // Any small file will do. There may be no directory to write one to.
  const file = import.meta.filename;
  const steps = {
    list: async () => void (await images.list()[Symbol.asyncIterator]().next()),
    put: () => images.put(name, file),
    get: async () => {
      const image = await images.get(name);
      if (!image) throw new Error('the object does not exist');
      const isEqual = (await buffer(image.stream)).equals(await readFile(file));
      if (!isEqual) throw new Error('the downloaded bytes differ from the uploaded ones');
    },
    delete: () => images.remove(name),
  };
  const problems: string[] = [];
  for (const [step, run] of Object.entries(steps)) {
    await run().catch((error) => problems.push(`${step}: ${messageOf(error)}`));
  }
  if (problems.length > 0) return failed(problems.join('; '));
  return ok('list, put, get, delete (probe object deleted)');
}
