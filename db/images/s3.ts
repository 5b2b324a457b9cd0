import { open } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { createCircuitBreaker } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import type { Log } from '../support/log.js';
import { bufferedBody } from './buffered-body.js';
import type { ImageStore, StoredImage } from './index.js';

export interface S3Options {
  /** Undefined for AWS. */
  endpoint: string | undefined;
  bucket: string;
  /** Whether to use `endpoint/bucket/name`, as most other servers require, instead of `bucket.endpoint/name`. */
  pathStyle: boolean;
  /** The timeout of one call, and the idle timeout of a body. */
  timeoutMs: number;
  /** The maximum number of connections of one process for uploads, and again for all other calls. */
  poolSize: number;
}

/** The key of the object that records the claim. Image names never begin with a dot. */
const MARKER_KEY = '.installation';

/** Shorter than the idle timeouts of servers and firewalls. */
const IDLE_TIMEOUT_MS = 4000;

/** The size of one read from an uploaded file. */
const READ_BYTES = 256 * 1024;

/** Images up to this size are read completely before they are served. */
const MAX_UNSTREAMED_BYTES = 256 * 1024;

const ignore = () => undefined;
const NOOP_LOGGER = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Stores images as objects in a bucket. The AWS SDK resolves credentials and region. A slow client does not occupy a
 * connection: uploads are complete files, and downloads are buffered in memory or in `directory`.
 *
 * @throws Error if neither a region nor an endpoint is configured
 */
export async function openS3(options: S3Options, directory: string, log: Log): Promise<ImageStore> {
  const { bucket: Bucket, timeoutMs } = options;
  // The SDK must not write to the console.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  // Loaded on demand: the SDK costs 100 ms and 20 MB.
  const S3 = await import('@aws-sdk/client-s3');

  // Servers other than AWS accept any region.
  const location = options.endpoint && { endpoint: options.endpoint, region: process.env.AWS_REGION || 'us-east-1' };
  const createAgents = (agentOptions: https.AgentOptions) => ({
    httpAgent: new http.Agent(agentOptions),
    httpsAgent: new https.Agent(agentOptions),
  });
  const createPool = () => createAgents({ keepAlive: true, maxSockets: options.poolSize, timeout: IDLE_TIMEOUT_MS });
  const pools = { uploads: createPool(), others: createPool() };
  const settings: S3ClientConfig = {
    ...location,
    forcePathStyle: options.pathStyle,
    maxAttempts: 2,
    // Not every server supports the SDK's extras, such as trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: NOOP_LOGGER,
  };
  const client = new S3.S3Client({ ...settings, requestHandler: pools.others });
  const { credentials, region } = client.config;
  const uploader = new S3.S3Client({ ...settings, credentials, region, requestHandler: pools.uploads });
  const prober = new S3.S3Client({
    ...settings,
    credentials,
    region,
    requestHandler: createAgents({ keepAlive: false }),
  });
  await region();

  /** Closes idle connections. When one connection stops responding, they probably do too, and calls on them would time out. */
  function dropIdleConnections(): void {
    for (const { freeSockets } of Object.values(pools).flatMap((agents) => Object.values(agents))) {
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
    }
  }

  const headBucket = (s3Client: typeof client, abortSignal: AbortSignal) =>
    s3Client.send(new S3.HeadBucketCommand({ Bucket }), { abortSignal });

  const breaker = createCircuitBreaker({
    store: 'images',
    timeoutMs,
    probe: (signal) => headBucket(prober, signal),
    isUnavailable: (error) => !(error instanceof TypeError),
    onOpen: dropIdleConnections,
    log,
  });

  const call = <Result>(request: (signal: AbortSignal) => Promise<Result>) =>
    breaker.run(async ({ signal }) => {
      signal.addEventListener('abort', dropIdleConnections);
      return request(signal).catch((error) => {
        throw withoutDetails(error);
      });
    });

  const fetchObject = (Key: string, abortSignal: AbortSignal) =>
    client.send(new S3.GetObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent);

  async function readImage(body: Readable, size: number, signal: AbortSignal): Promise<StoredImage> {
    if (size > MAX_UNSTREAMED_BYTES) return { size, stream: bufferedBody(body, { directory, timeoutMs }) };
    const abandon = () => void body.destroy();
    signal.addEventListener('abort', abandon);
    const bytes = await buffer(body);
    signal.removeEventListener('abort', abandon);
    return { size, stream: streamOf(bytes) };
  }

  async function remove(Key: string): Promise<void> {
    await call((abortSignal) =>
      client.send(new S3.DeleteObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent),
    );
  }

  return {
    kind: 's3',

    async put(name, path) {
      const file = await open(path).catch((cause) => {
        throw new StoreUnavailableError('images', { cause });
      });
      // If reading the file fails, the request is incomplete and times out.
      const Body = file.createReadStream({ highWaterMark: READ_BYTES }).on('error', ignore);
      const finished = new AbortController();
      try {
        const { size: ContentLength } = await file.stat();
        await call((signal) =>
          uploader.send(new S3.PutObjectCommand({ Bucket, Key: name, Body, ContentLength }), {
            abortSignal: AbortSignal.any([signal, finished.signal]),
          }),
        );
      } finally {
        // The server may respond with an error before it has received the whole body: aborting releases the connection.
        finished.abort();
        Body.destroy();
      }
    },

    get: (name) =>
      call(async (signal) => {
        const object = await fetchObject(name, signal);
        return object && readImage(object.Body as Readable, object.ContentLength as number, signal);
      }),

    remove,

    async *list() {
      let ContinuationToken: string | undefined;
      do {
        const command = new S3.ListObjectsV2Command({ Bucket, ContinuationToken });
        const page = await call((abortSignal) => client.send(command, { abortSignal }));
        for (const { Key } of page.Contents ?? []) if (Key && !Key.startsWith('.')) yield Key;
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    },

    async check() {
      await call((signal) => headBucket(client, signal));
    },

    claimedBy: () => call(async (signal) => (await fetchObject(MARKER_KEY, signal))?.Body?.transformToString()),

    async claim(installation) {
      await call((abortSignal) =>
        client.send(new S3.PutObjectCommand({ Bucket, Key: MARKER_KEY, Body: installation }), { abortSignal }),
      );
    },

    release: () => remove(MARKER_KEY),

    async close() {
      breaker.close();
      for (const s3Client of [client, uploader, prober]) s3Client.destroy();
    },
  };
}

/** Returns undefined for a missing object. Rethrows any other error, such as a missing bucket. */
function undefinedIfAbsent(error: Error): undefined {
  if (error.name !== 'NoSuchKey') throw error;
}

/** Replaces an error that S3 responded with: it contains the access key and the signed request, which must not be logged. */
function withoutDetails(error: Error & { $metadata?: { httpStatusCode?: number } }): Error {
  const status = error.$metadata?.httpStatusCode;
  return status === undefined ? error : new Error(`S3 responded with ${status} ${error.name}`);
}

function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({
    read() {
      this.push(bytes);
      this.push(null);
    },
  });
  // An error without another listener would end the process.
  return stream.on('error', ignore);
}
