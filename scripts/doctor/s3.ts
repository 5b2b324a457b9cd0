import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { ImageStore } from '../../db/images/index.js';
import type { S3Options } from '../../db/images/s3.js';
import { silentLog } from '../support/silent-log.js';
import { CALL_TIMEOUT_MS, type CheckResult, type CheckRow, failed, messageOf, ok, runChecks } from './checks.js';

/** Checks a bucket. Probes permissions with an object, which it deletes. */
export async function checkS3(options: S3Options): Promise<CheckRow[]> {
  const { openS3 } = await import('../../db/images/s3.js');
  // The empty path is never used: only large downloads are buffered in the directory, and the probe object is small.
  const opening = openS3({ ...options, timeoutMs: CALL_TIMEOUT_MS }, '', silentLog);
  const checkBucket = async () => (await opening).check().then(() => ok(`bucket ${options.bucket}`));
  return runChecks(['S3', checkBucket], ['S3 permissions', async () => checkPermissions(await opening)]);
}

async function checkPermissions(images: ImageStore): Promise<CheckResult> {
  // Not an image: `npm run verify` and the service ignore names that begin with a dot.
  const name = `.doctor-${process.pid}-${Date.now()}`;
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
  for (const [step, run] of Object.entries(steps))
    await run().catch((error) => problems.push(`${step}: ${messageOf(error)}`));
  return problems.length > 0 ? failed(problems.join('; ')) : ok('list, put, get, delete (probe object deleted)');
}
