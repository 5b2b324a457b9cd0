import { mkdir } from 'node:fs/promises';
import { BucketAlreadyOwnedByYou, CreateBucketCommand, ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { folder } from './folder.js';
import { goProgram } from './go.js';
import type { Server } from './server.js';

// The AWS SDK would print a warning about Node 20. Commands that `npm run services -- run` starts inherit this variable.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const program = goProgram('s3', 'github.com/versity/versitygw/cmd/versitygw', 'v1.8.0');

export const BUCKET = 'images';
export const REGION = 'us-east-1';

export const s3: Server = {
  title: 'versitygw',
  stopSignal: 'SIGTERM',
  ...program.members,

  async prepare({ s3: { accessKeyId, secretAccessKey } }, port) {
    const data = folder('data', 's3');
    await mkdir(data, { recursive: true, mode: 0o700 });
    return {
      command: program.binary(),
      args: [
        '--port',
        `127.0.0.1:${port}`,
        '--region',
        REGION,
        '--quiet',
        '--keep-alive',
        '--virtual-domain',
        'localhost',
        'posix',
        data,
      ],
      cwd: data,
      env: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
    };
  },

  async checkReady({ s3: credentials }, port) {
    const client = new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      forcePathStyle: true,
      credentials,
      maxAttempts: 1,
    });
    const abortSignal = AbortSignal.timeout(3000);
    try {
      const { Buckets = [] } = await client.send(new ListBucketsCommand(), { abortSignal });
      if (Buckets.some(({ Name }) => Name === BUCKET)) return;
      await client.send(new CreateBucketCommand({ Bucket: BUCKET }), { abortSignal });
    } catch (error) {
      if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
    } finally {
      client.destroy();
    }
  },
};
