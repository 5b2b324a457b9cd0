import { open } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { createGuard } from '../guard.js';
import type { Log } from '../log.js';
import { StoreUnavailable } from '../unavailable.js';
import type { ImageStore } from './index.js';

export interface S3Options {
  /** Undefined for AWS itself. */
  endpoint: string | undefined;
  bucket: string;
  /** `endpoint/bucket/name`, as most other stores want it, rather than `bucket.endpoint/name`. */
  pathStyle: boolean;
  /** The deadline of one call, and how long a body may be silent, in milliseconds. */
  timeout: number;
  /** The most connections of one process. */
  poolSize: number;
}

/** Whose images these are. No image's name begins with a dot. */
const MARK = '.installation';

/** How long a connection is kept unused, in milliseconds: less than servers and firewalls keep theirs. */
const IDLE = 4000;

/** How much of a file is read at a time. */
const PIECE = 256 * 1024;

const ignore = () => undefined;
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Images as objects of one bucket. Credentials and region are found as the AWS SDK finds them.
 *
 * @throws when no region is configured and no endpoint either
 */
export async function openS3(options: S3Options, log: Log): Promise<ImageStore> {
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
  const agents = agentsOf({ keepAlive: true, maxSockets: options.poolSize, timeout: IDLE });
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
  const client = new S3.S3Client({ ...settings, requestHandler: agents });
  const { credentials, region } = client.config;
  const prober = new S3.S3Client({ ...settings, credentials, region, requestHandler: agentsOf({ keepAlive: false }) });
  await region();

  /** Where one connection has gone silent the idle ones have too: each of them would cost a call its deadline. */
  function dropIdle(): void {
    for (const { freeSockets } of Object.values(agents)) {
      for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
    }
  }

  const head = (asked: typeof client, abortSignal: AbortSignal) =>
    asked.send(new S3.HeadBucketCommand({ Bucket }), { abortSignal });

  const guard = createGuard({
    store: 'images',
    timeout,
    probe: (signal) => head(prober, signal),
    isUnavailable: (error) => !(error instanceof TypeError),
    onAway: dropIdle,
    log,
  });

  const ask = <Result>(call: (signal: AbortSignal) => Promise<Result>) =>
    guard.run(async (signal) => {
      signal.addEventListener('abort', dropIdle);
      return call(signal).catch((error) => {
        throw withoutDetails(error);
      });
    });

  const fetchObject = (Key: string, abortSignal: AbortSignal) =>
    client.send(new S3.GetObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent);

  async function remove(Key: string): Promise<void> {
    await ask((abortSignal) =>
      client.send(new S3.DeleteObjectCommand({ Bucket, Key }), { abortSignal }).catch(undefinedIfAbsent),
    );
  }

  return {
    kind: 's3',

    async put(name, path) {
      const file = await open(path).catch((cause) => {
        throw new StoreUnavailable('images', { cause });
      });
      // Should reading fail, the request stays short of its length, and ends at its deadline.
      const Body = file.createReadStream({ highWaterMark: PIECE }).on('error', ignore);
      const over = new AbortController();
      try {
        const { size: ContentLength } = await file.stat();
        await ask((signal) =>
          client.send(new S3.PutObjectCommand({ Bucket, Key: name, Body, ContentLength }), {
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
        return (
          object && { size: object.ContentLength as number, stream: whileItFlows(object.Body as Readable, timeout) }
        );
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

    owner: () => ask(async (signal) => (await fetchObject(MARK, signal))?.Body?.transformToString()),

    async own(installation) {
      await ask((abortSignal) =>
        client.send(new S3.PutObjectCommand({ Bucket, Key: MARK, Body: installation }), { abortSignal }),
      );
    },

    disown: () => remove(MARK),

    async close() {
      guard.close();
      client.destroy();
      prober.destroy();
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

/** The body, until the store keeps a reader waiting for longer than `timeout`. A reader may take his time. */
function whileItFlows(body: Readable, timeout: number): Readable {
  const stream = new PassThrough();
  const silence = setTimeout(() => {
    if (!stream.writableNeedDrain) stream.destroy(new StoreUnavailable('images'));
  }, timeout);
  const goOn = () => void silence.refresh();
  const stop = () => clearTimeout(silence);
  body.on('data', goOn).once('end', stop);
  // An error when nobody listens any more, or does not yet, must not end the process.
  stream.on('drain', goOn).on('error', ignore);
  pipeline(body, stream, stop);
  return stream;
}
