import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createCircuitBreaker } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { streamFile } from './disk.js';
import type { ImageStore, StoredImage } from './index.js';
import { SMALL_IMAGE_BYTES, streamOf } from './small-images.js';

export interface S3Options {
  /** The URL of the server; undefined for AWS. */
  endpoint: string | undefined;
  bucket: string;
  /** Whether URLs have the form `endpoint/bucket/name`, not `bucket.endpoint/name`. Most servers other than AWS need this. */
  pathStyle: boolean;
  /** The timeout of one call, and the idle timeout of a connection while a large image is received. */
  timeoutMs: number;
  /** The maximum number of connections of one process. */
  poolSize: number;
}

/** S3 responded with an error. Unlike the SDK's errors, it does not contain the access key or the signed request. */
class S3ResponseError extends Error {
  override readonly name = 'S3ResponseError';

  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(`S3 responded with ${status} ${code}`);
  }
}

/** The key of the installation marker. The names of images never begin with a dot. */
const MARKER_KEY = '.installation';

/** The size of one read from an uploaded file. */
const READ_BYTES = 256 * 1024;

/** A large image, which may be received slowly, is received within this many timeouts. */
const RECEIVE_FACTOR = 10;

/** How long an idle connection is kept: shorter than the idle timeouts of servers and firewalls. */
const IDLE_TIMEOUT_MS = 4000;

const ignore = () => undefined;
const NOOP_LOGGER = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Stores images as objects in a bucket. A slow client does not occupy a connection to S3: an image is uploaded from a complete
 * file, and received completely before it is served: small ones into memory, others into a file in `directory`.
 *
 * @throws StoreUnavailableError if neither a region nor an endpoint is configured
 */
export async function openS3(
  { endpoint, bucket, pathStyle, timeoutMs, poolSize }: S3Options,
  directory: string,
  log: Log,
): Promise<ImageStore> {
  // Prevents the SDK from writing a warning to the console.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  // Loaded on demand, because the SDK takes 100 ms and 20 MB of memory to load.
  const sdk = await import('@aws-sdk/client-s3');
  const agentOptions = { keepAlive: true, maxSockets: poolSize, timeout: IDLE_TIMEOUT_MS };
  const agents = { httpAgent: new http.Agent(agentOptions), httpsAgent: new https.Agent(agentOptions) };
  const handlerOptions = { socketTimeout: timeoutMs, logger: NOOP_LOGGER };
  const options = {
    // Most servers other than AWS accept any region, but the SDK requires one.
    ...(endpoint !== undefined && { endpoint, region: process.env.AWS_REGION || 'us-east-1' }),
    forcePathStyle: pathStyle,
    maxAttempts: 2,
    logger: NOOP_LOGGER,
    // Servers other than AWS may not support checksums behind the body, or `Expect: 100-continue`.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
  } as const;
  const client = new sdk.S3Client({ ...options, requestHandler: { ...agents, ...handlerOptions } });
  // Opens a connection for each probe, which must not wait for one of the pool.
  const probeClient = new sdk.S3Client({
    ...options,
    credentials: client.config.credentials,
    requestHandler: { httpAgent: { keepAlive: false }, httpsAgent: { keepAlive: false }, ...handlerOptions },
  });
  await client.config.region().catch(throwUnavailable);

  /** Closes idle connections. If one connection no longer responds, idle ones probably do not either. */
  function dropIdleConnections(): void {
    for (const { freeSockets } of Object.values(agents))
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  }

  const checkBucket = (abortSignal: AbortSignal, by = client) =>
    by.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal });

  const breaker = createCircuitBreaker({
    store: 'images',
    timeoutMs,
    probe: (signal) => checkBucket(signal, probeClient),
    // A TypeError is a bug in this service.
    isUnavailable: (error) => !(error instanceof TypeError),
    onOpen: dropIdleConnections,
    log,
  });

  /** Makes a call through the circuit breaker. Also drops idle connections if the call is abandoned. */
  const call = <Result>(request: (signal: AbortSignal) => Promise<Result>) =>
    breaker.run(async (signal) => {
      signal.addEventListener('abort', dropIdleConnections);
      return request(signal).catch(throwWithoutDetails);
    });

  /** Sends an object. */
  async function upload(key: string, path: string, size: number, abortSignal: AbortSignal): Promise<void> {
    const body = createReadStream(path, { highWaterMark: READ_BYTES });
    // If the file cannot be read, the call times out.
    body.on('error', ignore);
    try {
      const command = new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: size });
      await client.send(command, { abortSignal });
    } finally {
      body.destroy();
    }
  }

  async function get(key: string): Promise<StoredImage | undefined> {
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
    const image = await call(async (abortSignal) => {
      const object = await client.send(command, { abortSignal }).catch(undefinedIfMissing);
      const body = object?.Body as Readable | undefined;
      const size = object?.ContentLength ?? Number.POSITIVE_INFINITY;
      return body && size <= SMALL_IMAGE_BYTES ? { size, stream: streamOf(await body.toArray()) } : body;
    });
    if (!(image instanceof Readable)) return image;
    return receive(image, directory, AbortSignal.timeout(timeoutMs * RECEIVE_FACTOR)).catch(throwUnavailable);
  }

  async function remove(key: string): Promise<void> {
    const command = new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key });
    // S3 reports success if the object is missing, but some other servers respond with an error.
    await call((abortSignal) => client.send(command, { abortSignal }).catch(undefinedIfMissing));
  }

  return {
    kind: 's3',

    async put(name, path) {
      const { size } = await stat(path).catch(throwUnavailable);
      await call((signal) =>
        // The SDK does not repeat a request whose body is a stream.
        upload(name, path, size, signal).catch((error) => {
          if (signal.aborted || statusOf(error) < 500) throw error;
          return upload(name, path, size, signal);
        }),
      );
    },

    get,
    remove,

    async *list() {
      let token: string | undefined;
      do {
        const command = new sdk.ListObjectsV2Command({ Bucket: bucket, ContinuationToken: token });
        const { Contents = [], NextContinuationToken: next } = await call((abortSignal) =>
          client.send(command, { abortSignal }),
        );
        for (const { Key: key } of Contents) if (key && !key.startsWith('.')) yield key;
        token = next;
      } while (token !== undefined);
    },

    async check() {
      await call((signal) => checkBucket(signal));
    },

    async claimedBy() {
      const marker = await get(MARKER_KEY);
      return marker && text(marker.stream);
    },

    async claim(installation) {
      const command = new sdk.PutObjectCommand({ Bucket: bucket, Key: MARKER_KEY, Body: installation });
      await call((abortSignal) => client.send(command, { abortSignal }));
    },

    release: () => remove(MARKER_KEY),

    async close() {
      breaker.shutDown();
      client.destroy();
      probeClient.destroy();
    },
  };
}

/** Receives an image into a file completely, which frees the connection. Rejects if the signal aborts. */
async function receive(body: Readable, directory: string, signal: AbortSignal): Promise<StoredImage> {
  const path = join(directory, randomUUID());
  try {
    await writeFile(path, body, { flag: 'wx', signal });
    const { size } = await stat(path);
    return { size, stream: streamFile(await open(path)) };
  } finally {
    body.destroy();
    // The operating system deletes the file when it is closed.
    await rm(path, { force: true });
  }
}

/** Returns the HTTP status that caused an error of the SDK, or infinity if there was no response. */
const statusOf = (error: Error & { $metadata?: { httpStatusCode?: number } }) =>
  error.$metadata?.httpStatusCode ?? Number.POSITIVE_INFINITY;

/** Returns undefined for a missing object. Rethrows any other error, such as a missing bucket. */
function undefinedIfMissing(error: Error): undefined {
  if (error.name !== 'NoSuchKey') throw error;
}

/** Replaces an SDK error that was caused by a response, because it contains the access key, which must not be logged. */
function throwWithoutDetails(error: Error): never {
  const status = statusOf(error);
  throw Number.isFinite(status) ? new S3ResponseError(status, error.name) : error;
}

function throwUnavailable(cause: unknown): never {
  throw cause instanceof StoreUnavailableError ? cause : new StoreUnavailableError('images', { cause });
}
