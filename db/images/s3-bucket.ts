import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';

export interface S3Options {
  /** The URL of the server; undefined for AWS. */
  endpoint: string | undefined;
  bucket: string;
  /** Whether URLs have the form `endpoint/bucket/name`, not `bucket.endpoint/name`. Most servers other than AWS need this. */
  pathStyle: boolean;
  /** The timeout of one call, and the idle timeout of a response body. */
  timeoutMs: number;
  /** The maximum number of connections of one process for uploads. The same number applies to all other calls together. */
  poolSize: number;
}

export interface BucketRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** The key of an object. If undefined, the request is for the bucket itself. */
  key?: string;
  /** Creates the body. Called again if the request is repeated. */
  body?: () => Readable | string;
  /** Required if the body is a stream. */
  contentLength?: number;
  signal: AbortSignal;
}

/** A response. It occupies a connection until its body has been read or destroyed. */
type BucketResponse = Pick<Dispatcher.ResponseData, 'headers' | 'body'>;

/** Sends signed requests to a bucket. */
interface Bucket {
  /**
   * Sends a request. Repeats it once if there is no response, or a response with a status of 500 or more.
   *
   * @throws S3ResponseError if the last response has a status of 300 or more
   */
  request(request: BucketRequest): Promise<BucketResponse>;
  /** Checks on a new connection that the bucket responds. */
  probe(signal: AbortSignal): Promise<void>;
  /** Returns one page of the keys of all objects, and the continuation token of the next page, if any. */
  listKeys(token: string | undefined, signal: AbortSignal): Promise<{ keys: string[]; next: string | undefined }>;
  /** Closes idle connections. If one connection no longer responds, idle ones probably do not either. */
  dropIdleConnections(): void;
  close(): Promise<void>;
}

/** S3 responded with an error. Unlike the SDK's errors, it does not contain the access key or the signed request. */
export class S3ResponseError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(`S3 responded with ${status} ${code}`);
    this.name = 'S3ResponseError';
  }
}

/** How long an idle connection is kept: shorter than the idle timeouts of servers and firewalls. */
const IDLE_TIMEOUT_MS = 4000;

/** Excludes the body from the signature, so that it need not be read before the request is sent. */
const UNSIGNED = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };

const ignore = () => undefined;
const NOOP_LOGGER = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Opens a bucket. The AWS SDK resolves credentials, region and endpoint, signs requests, and lists objects. All other requests
 * are sent with undici, because the SDK takes four times as much CPU time for a download.
 *
 * @throws Error if neither a region nor an endpoint is configured
 */
export async function openBucket({ endpoint, bucket, pathStyle, timeoutMs, poolSize }: S3Options): Promise<Bucket> {
  // Prevents the SDK from writing a warning to the console.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  // Loaded on demand, because the SDK takes 100 ms and 20 MB of memory to load.
  const { S3Client, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    // Most servers other than AWS accept any region, but the SDK requires one.
    ...(endpoint !== undefined && { endpoint, region: process.env.AWS_REGION || 'us-east-1' }),
    forcePathStyle: pathStyle,
    maxAttempts: 2,
    logger: NOOP_LOGGER,
  });
  const { url, sign } = await resolveBucket(client, { endpoint, bucket, pathStyle });

  const connect = buildConnector({ timeout: timeoutMs });
  /** The open connections. Each client of a pool has at most one. */
  const sockets = new Map<Client, Socket>();

  /** Creates a client of a pool. Records its connection, because a pool has no method that closes only idle connections. */
  function createClient(origin: URL, options: object): Client {
    const client: Client = new Client(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...result) => {
          if (result[1]) sockets.set(client, result[1]);
          callback(...result);
        }),
    });
    return client.on('disconnect', () => sockets.delete(client));
  }

  const createPool = (connections: number, options: Pool.Options = {}) =>
    new Pool(url.origin, {
      connections,
      factory: createClient,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
      // No timeouts here. The signal of a request aborts it if a small response, or the head of a large one, takes too long.
      // `bufferedBody` has an idle timeout for the body of a large response.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...options,
    });
  const pools = { uploads: createPool(poolSize), others: createPool(poolSize) };
  /** A pool without keep-alive, so that each probe opens a new connection. */
  const probePool = createPool(1, { pipelining: 0 });

  async function send(
    pool: Pool,
    { method, key, body, contentLength, signal }: BucketRequest,
  ): Promise<BucketResponse> {
    const path = key === undefined ? url.pathname : `${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(key)}`;
    const headers = await sign(method, path);
    if (contentLength !== undefined) headers['content-length'] = String(contentLength);
    const response = await pool.request({ method, path, headers, body: body?.() ?? null, signal });
    if (response.statusCode < 300) return response;
    const code = /<Code>(\w+)<\/Code>/.exec(await response.body.text())?.[1];
    throw new S3ResponseError(response.statusCode, code ?? STATUS_CODES[response.statusCode] ?? '');
  }

  return {
    async request(request) {
      const pool = request.method === 'PUT' ? pools.uploads : pools.others;
      try {
        return await send(pool, request);
      } catch (error) {
        if (request.signal.aborted || (error instanceof S3ResponseError && error.status < 500)) throw error;
        return send(pool, request);
      }
    },

    async probe(signal) {
      const { body } = await send(probePool, { method: 'HEAD', signal });
      await body.dump();
    },

    async listKeys(token, signal) {
      const command = new ListObjectsV2Command({ Bucket: bucket, ContinuationToken: token });
      const { Contents = [], NextContinuationToken: next } = await client
        .send(command, { abortSignal: signal })
        .catch((error) => {
          throw withoutDetails(error);
        });
      return { keys: Contents.flatMap(({ Key }) => Key ?? []), next };
    },

    dropIdleConnections() {
      for (const [client, socket] of sockets) if (client.stats.size === 0) socket.destroy();
    },

    async close() {
      client.destroy();
      await Promise.all([...Object.values(pools), probePool].map((pool) => pool.destroy()));
    },
  };
}

/** Returns the URL of the bucket, and a function that returns the signed headers of a request. */
async function resolveBucket(
  { config }: S3Client,
  { endpoint, bucket, pathStyle }: Pick<S3Options, 'endpoint' | 'bucket' | 'pathStyle'>,
) {
  const { url, properties } = config.endpointProvider({
    Bucket: bucket,
    Region: await config.region(),
    ForcePathStyle: pathStyle,
    UseFIPS: await config.useFipsEndpoint(),
    UseDualStack: await config.useDualstackEndpoint(),
    ...(endpoint !== undefined && { Endpoint: endpoint }),
  });
  const signer = await config.signer(properties?.authSchemes?.[0]);
  return {
    url,
    async sign(method: string, path: string): Promise<Record<string, string>> {
      const { protocol, hostname } = url;
      const headers = { host: url.host, ...UNSIGNED };
      return (await signer.sign({ method, protocol, hostname, path, query: {}, headers })).headers;
    },
  };
}

/** Replaces an SDK error that was caused by a response, because it contains the access key, which must not be logged. */
function withoutDetails(error: Error & { $metadata?: { httpStatusCode?: number } }): Error {
  const status = error.$metadata?.httpStatusCode;
  return status === undefined ? error : new S3ResponseError(status, error.name);
}
