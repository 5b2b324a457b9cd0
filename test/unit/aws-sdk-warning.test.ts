import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const CREDENTIALS = { accessKeyId: 'a', secretAccessKey: 'b' };

const OPEN_S3 = `
  import { openS3 } from './.build/db/images/s3.js';
  const options = { endpoint: 'http://127.0.0.1:1', bucket: 'b', pathStyle: true, timeoutMs: 100, poolSize: 1 };
  const images = await openS3(options, '.', { info() {}, warn() {} });
  await images.close();`;

const CHECK_SERVER = `
  import { s3 } from './.build/scripts/services/s3.js';
  await s3.checkReady({ s3: ${JSON.stringify(CREDENTIALS)} }, 1).catch(() => undefined);`;

t.test('neither the service nor npm run services prints a warning of the AWS SDK about Node 20', async (t) => {
  for (const code of [OPEN_S3, CHECK_SERVER]) {
    const { PATH } = process.env;
    const output = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env: { PATH } });
    t.same(output, { stdout: '', stderr: '' });
  }
});
