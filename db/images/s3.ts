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
  /** Undefined for AWS itself. */
  endpoint: string | undefined;
  bucket: string;
  /** `endpoint/bucket/name`, as most other stores want it, rather than `bucket.endpoint/name`. */
  pathStyle: boolean;
  /** The deadline of one call, and how long a body may be silent, in milliseconds. */
  timeout: number;
  /** The most connections of one process for uploads, and as many for everything else. */
  poolSize: number;
}

/** Whose images these are. No image's name begins with a dot. */
const MARKER_KEY = '.installation';

/** How long a connection is kept unused, in milliseconds: less than servers and firewalls keep theirs. */
const IDLE = 4000;

/** How much of a file is read at a time, in bytes. */
const PIECE = 256 * 1024;

/** Up to this size an image is read whole before it is served, in bytes. */
const SMALL_BYTES = 256 * 1024;

const ignore = () => undefined;
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Images as objects of one bucket. Credentials and region are found as the AWS SDK finds them. No connection waits for a
 * client: what is uploaded lies in a file already, and what is downloaded is buffered in memory or in `directory`.
 *
 * @throws when no region is configured and no endpoint either
 */
export async function openS3(options: S3Options, directory: string, log: Log): Promise<ImageStore> {
  const { bucket: Bucket, timeout } = options;
  // 100 ms and 20 MB that only those pay who use it. It must not write to the console either.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const S3 = await import('@aws-sdk/client-s3');

  // A store of one's own takes any region, so that AWS's machines need not be asked for theirs.
  const place = options.endpoint && { endpoint: options.endpoint, region: process.env.AWS_REGION || 'us-east-1' };
  const agentsOf = (agent: https.AgentOptions) => ({
    httpAgent: new http.Agent(agent),
    httpsAgent: new https.Agent(agent),
  });
  const poolOf = () => agentsOf({ keepAlive: true, maxSockets: options.poolSize, timeout: IDLE });
  const pools = { uploads: poolOf(), others: poolOf() };
  const settings: S3ClientConfig = {
    ...place,
    forcePathStyle: options.pathStyle,
    maxAttempts: 2,
    // What else the SDK would add, trailing checksums above all, not every store knows.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: SILENT,
  };
  const client = new S3.S3Client({ ...settings, requestHandler: pools.others });
  const { credentials, region } = client.config;
  const uploader = new S3.S3Client({ ...settings, credentials, region, requestHandler: pools.uploads });
  const prober = new S3.S3Client({ ...settings, credentials, region, requestHandler: agentsOf({ keepAlive: false }) });
  await region();

  /** Where one connection has gone silent the idle ones have too: each of them would cost a call its deadline. */
  function dropIdle(): void {
    for (const { freeSockets } of Object.values(pools).flatMap((agents) => Object.values(agents))) {
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
    }
  }

  const head = (asked: typeof client, abortSignal: AbortSignal) =>
    asked.send(new S3.HeadBucketCommand({ Bucket }), { abortSignal });

  const guard = createCircuitBreaker({
    store: 'images',
    timeout,
    probe: (signal) => head(prober, signal),
    isUnavailable: (error) => !(error instanceof TypeError),
    onOpen: dropIdle,
    log,
  });

  const ask = <Result>(call: (signal: AbortSignal) => Promise<Result>) =>
    guard.run(async ({ signal }) => {
      signal.addEventListener('abort', dropIdle);
      return call(signal).catch((error) => {
        throw withoutDetails(error);
      });
    });

  const fetchObject = (Key: string, abortSignal: AbortSignal) =>
    client.send(new S3.GetObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent);

  async function receive(body: Readable, size: number, signal: AbortSignal): Promise<StoredImage> {
    if (size > SMALL_BYTES) return { size, stream: bufferedBody(body, { directory, timeoutMs: timeout }) };
    const giveUp = () => void body.destroy();
    signal.addEventListener('abort', giveUp);
    const bytes = await buffer(body);
    signal.removeEventListener('abort', giveUp);
    return { size, stream: streamOf(bytes) };
  }

  async function remove(Key: string): Promise<void> {
    await ask((abortSignal) =>
      client.send(new S3.DeleteObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent),
    );
  }

  return {
    kind: 's3',

    async put(name, path) {
      const file = await open(path).catch((cause) => {
        throw new StoreUnavailableError('images', { cause });
      });
      // Should reading fail, the request stays short of its length, and ends at its deadline.
      const Body = file.createReadStream({ highWaterMark: PIECE }).on('error', ignore);
      const over = new AbortController();
      try {
        const { size: ContentLength } = await file.stat();
        await ask((signal) =>
          uploader.send(new S3.PutObjectCommand({ Bucket, Key: name, Body, ContentLength }), {
            abortSignal: AbortSignal.any([signal, over.signal]),
          }),
        );
      } finally {
        // A refusal may come before all is sent: the rest is not, and the connection is let go of.
        over.abort();
        Body.destroy();
      }
    },

    get: (name) =>
      ask(async (signal) => {
        const object = await fetchObject(name, signal);
        return object && receive(object.Body as Readable, object.ContentLength as number, signal);
      }),

    remove,

    async *list() {
      let ContinuationToken: string | undefined;
      do {
        const command = new S3.ListObjectsV2Command({ Bucket, ContinuationToken });
        const page = await ask((abortSignal) => client.send(command, { abortSignal }));
        for (const { Key } of page.Contents ?? []) if (Key && !Key.startsWith('.')) yield Key;
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    },

    async check() {
      await ask((signal) => head(client, signal));
    },

    claimedBy: () => ask(async (signal) => (await fetchObject(MARKER_KEY, signal))?.Body?.transformToString()),

    async claim(installation) {
      await ask((abortSignal) =>
        client.send(new S3.PutObjectCommand({ Bucket, Key: MARKER_KEY, Body: installation }), { abortSignal }),
      );
    },

    release: () => remove(MARKER_KEY),

    async close() {
      guard.close();
      for (const each of [client, uploader, prober]) each.destroy();
    },
  };
}

/** Without the bucket there is no image either, but that is no answer. */
function undefinedIfAbsent(error: Error): undefined {
  if (error.name !== 'NoSuchKey') throw error;
}

/** S3 says of a refusal whose key it was and what was signed: nothing of that belongs into a log. */
function withoutDetails(error: Error & { $metadata?: { httpStatusCode?: number } }): Error {
  const status = error.$metadata?.httpStatusCode;
  return status === undefined ? error : new Error(`S3 answered ${status} ${error.name}`);
}

function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({
    read() {
      this.push(bytes);
      this.push(null);
    },
  });
  // A reader that leaves with an error must not end the process.
  return stream.on('error', ignore);
}
