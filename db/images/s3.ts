import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createCircuitBreaker } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { bufferedBody } from './buffered-body.js';
import type { ImageStore } from './index.js';
import { type BucketRequest, openBucket, type S3Options, S3ResponseError } from './s3-bucket.js';
import { SMALL_IMAGE_BYTES, streamOf } from './small-images.js';

/** The key of the installation marker. The names of images never begin with a dot. */
const MARKER_KEY = '.installation';

/** The size of one read from an uploaded file. */
const READ_BYTES = 256 * 1024;

/**
 * Stores images as objects in a bucket. A slow client does not occupy a connection to S3: an image is uploaded from a complete
 * file, and a download is buffered in memory or in `directory`.
 *
 * @throws StoreUnavailableError if neither a region nor an endpoint is configured
 */
export async function openS3(options: S3Options, directory: string, log: Log): Promise<ImageStore> {
  const { timeoutMs } = options;
  const bucket = await openBucket(options).catch((cause) => {
    throw new StoreUnavailableError('images', { cause });
  });

  const breaker = createCircuitBreaker({
    store: 'images',
    timeoutMs,
    probe: bucket.probe,
    // A TypeError is a bug in this service.
    isUnavailable: (error) => !(error instanceof TypeError),
    onOpen: bucket.dropIdleConnections,
    log,
  });

  /** Makes a call through the circuit breaker. Also drops idle connections if the call is abandoned. */
  const call = <Result>(request: (signal: AbortSignal) => Promise<Result>) =>
    breaker.run(async (signal) => {
      signal.addEventListener('abort', bucket.dropIdleConnections);
      return request(signal);
    });

  const fetchObject = (key: string, signal: AbortSignal) =>
    bucket.request({ method: 'GET', key, signal }).catch(undefinedIfMissing);

  /** Sends a request, and discards the body of the response, which frees the connection. */
  const send = (request: Omit<BucketRequest, 'signal'>) =>
    call(async (signal) => (await bucket.request({ ...request, signal })).body.dump());

  // S3 reports success if the object is missing, but some other servers respond with an error.
  const remove = (key: string) =>
    call(async (signal) => {
      const response = await bucket.request({ method: 'DELETE', key, signal }).catch(undefinedIfMissing);
      await response?.body.dump();
    });

  return {
    kind: 's3',

    async put(name, path) {
      const { size } = await stat(path).catch((cause) => {
        throw new StoreUnavailableError('images', { cause });
      });
      // A stream for each attempt, because undici destroys the stream of a failed one.
      const body = () => createReadStream(path, { highWaterMark: READ_BYTES });
      await send({ method: 'PUT', key: name, body, contentLength: size });
    },

    get: (name) =>
      call(async (signal) => {
        const object = await fetchObject(name, signal);
        if (!object) return undefined;
        const size = Number(object.headers['content-length']);
        if (Number.isNaN(size)) {
          await object.body.dump();
          throw new Error('The S3 response has no Content-Length');
        }
        if (size > SMALL_IMAGE_BYTES) return { size, stream: bufferedBody(object.body, { directory, timeoutMs }) };
        return { size, stream: streamOf(await object.body.toArray()) };
      }),

    remove,

    async *list() {
      let token: string | undefined;
      do {
        const page = await call((signal) => bucket.listKeys(token, signal));
        for (const key of page.keys) if (!key.startsWith('.')) yield key;
        token = page.next;
      } while (token !== undefined);
    },

    check: () => send({ method: 'HEAD' }),

    claimedBy: () => call(async (signal) => (await fetchObject(MARKER_KEY, signal))?.body.text()),

    claim: (installation) => send({ method: 'PUT', key: MARKER_KEY, body: () => installation }),

    release: () => remove(MARKER_KEY),

    async close() {
      breaker.shutDown();
      await bucket.close();
    },
  };
}

/** Returns undefined for a missing object. Rethrows any other error, such as a missing bucket. */
function undefinedIfMissing(error: Error): undefined {
  if (!(error instanceof S3ResponseError && error.code === 'NoSuchKey')) throw error;
}
