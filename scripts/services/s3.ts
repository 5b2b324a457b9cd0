import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { GO_INSTALL_HINT, installGoProgram } from '../support/go.js';
import { folder } from './folder.js';
import { findProgram, runLogged } from './programs.js';
import type { Server } from './server.js';

// The AWS SDK would print a warning about Node 20. Commands that `npm run services -- run` starts inherit this variable.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const PACKAGE = 'github.com/versity/versitygw/cmd/versitygw';
const VERSION = 'v1.8.0';

const directory = () => folder('s3', VERSION);

export const BUCKET = 'images';
export const REGION = 'us-east-1';

export const s3: Server = {
  title: 'versitygw',
  stopSignal: 'SIGTERM',

  requiredPrograms: () => (s3.isFetched() ? [] : [findProgram('go', GO_INSTALL_HINT)]),

  isFetched: () => existsSync(directory()),

  fetch: () => installGoProgram(directory(), PACKAGE, VERSION, (args, env) => runLogged('s3', 'go', args, { env })),

  version: () => VERSION,

  async prepare({ s3: { accessKeyId, secretAccessKey } }, port) {
    const data = folder('data', 's3');
    await mkdir(data, { recursive: true, mode: 0o700 });
    return {
      command: join(directory(), 'versitygw'),
      args: [
        ...['--port', `127.0.0.1:${port}`, '--region', REGION, '--virtual-domain', 'localhost'],
        ...['--quiet', '--keep-alive', 'posix', data],
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
    try {
      const command = new CreateBucketCommand({ Bucket: BUCKET });
      await client.send(command, { abortSignal: AbortSignal.timeout(3000) });
    } catch (error) {
      if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
    } finally {
      client.destroy();
    }
  },
};
