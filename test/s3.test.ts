import { randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, DeleteBucketCommand, DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import type { ImageStore } from '../db/images/index.js';
import { openS3, type S3Options } from '../db/images/s3.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import type { Log } from '../db/support/log.js';
import { listImageNames, openStream, putBytes, testImageStore, writeUpload } from './support/image-store.js';
import { listen } from './support/listen.js';
import { startProxy } from './support/proxy.js';
import { silentLog } from './support/stores.js';
import { retryWhileUnavailable, until } from './support/until.js';

const { S3_ENDPOINT, S3_BUCKET, AWS_ACCESS_KEY_ID } = process.env;
const missing = Object.entries({ S3_ENDPOINT, S3_BUCKET, AWS_ACCESS_KEY_ID })
  .filter(([, value]) => value === undefined)
  .map(([name]) => name);

// Keeps the SDK from using credentials of the machine that runs the tests.
process.env.AWS_EC2_METADATA_DISABLED = 'true';

if (missing.length === 0) await testS3(S3_ENDPOINT as string);
else t.pass('S3', { skip: `needs ${missing.join(', ')}: npm run test:services` });

async function testS3(endpoint: string): Promise<void> {
  const LARGE_BYTES = 5 * 1024 * 1024;
  const uploads = t.testdir();
  const bucket = `test-${Date.now()}-${randomBytes(4).toString('hex')}`;
  const settings = { endpoint, bucket, pathStyle: true, timeoutMs: 5000, poolSize: 4 };
  const admin = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
  await admin.send(new CreateBucketCommand({ Bucket: bucket }));
  t.teardown(async () => {
    const images = await openS3(settings, uploads, silentLog);
    for (const name of await listImageNames(images)) await images.remove(name);
    await images.close();
    await admin.send(new DeleteObjectCommand({ Bucket: bucket, Key: '.installation' }));
    await admin.send(new DeleteBucketCommand({ Bucket: bucket }));
    admin.destroy();
  });

  const { headers } = await fetch(endpoint);
  const closesConnections =
    headers.get('connection') === 'close' && 'the server closes every connection after one response';

  async function openImages(
    t: Test,
    { directory = uploads, ...options }: Partial<S3Options> & { directory?: string } = {},
    log = silentLog,
  ): Promise<ImageStore> {
    const images = await openS3({ ...settings, ...options }, directory, log);
    t.teardown(() => images.close());
    return images;
  }

  /** Opens the store through a proxy. `untilReported` waits for the log to report that it is unavailable or available. */
  async function openThroughProxy(t: Test, options: Partial<S3Options> & { directory?: string } = {}) {
    const proxy = await startProxy(t, endpoint, '80');
    let isUnavailable = false;
    const log: Log = {
      warn() {
        isUnavailable = true;
      },
      info() {
        isUnavailable = false;
      },
    };
    const direct = await openImages(t);
    return {
      proxy,
      images: await openImages(t, { endpoint: proxy.url, timeoutMs: 600, ...options }, log),
      /** Stores an image without the proxy and its short timeout, which a large one may exceed on a busy machine. */
      putDirectly: (bytes: Uint8Array) => put(direct, bytes),
      untilReported: (expected: 'unavailable' | 'available') =>
        until(() => isUnavailable === (expected === 'unavailable')),
    };
  }

  const put = (images: ImageStore, bytes: Uint8Array) => putBytes(images, uploads, bytes);

  await t.test('a bucket passes the tests of image stores', async (t) => {
    await testImageStore(t, await openImages(t), uploads);
  });

  await t.test('a wrong bucket or wrong credentials make the store unavailable, and no secret is logged', async (t) => {
    const logged: unknown[] = [];
    const log = { ...silentLog, warn: (details: object) => void logged.push(details) };
    const file = await writeUpload(uploads, randomBytes(LARGE_BYTES));
    const expectUnavailable = async (images: ImageStore) => {
      const calls = [images.check(), images.get('a.png'), images.put('a.png', file), images.remove('a.png')];
      await expectAllUnavailable(t, [...calls, images.claimedBy(), images.claim('x'), listImageNames(images)]);
    };
    await expectUnavailable(await openImages(t, { bucket: `${bucket}-no` }, log));
    for (const variable of ['AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID']) {
      const right = process.env[variable];
      process.env[variable] = 'quite-wrong';
      await expectUnavailable(await openImages(t, {}, log));
      process.env[variable] = right;
    }
    const causes = logged.map((details) => (details as { err: Error }).err);
    t.match(causes.map(({ message }) => message).join(), /NoSuchBucket|NotFound/);
    t.same(
      [...new Set(causes.flatMap((cause) => Object.keys(cause)))],
      ['status', 'code', 'name'],
      'nothing else is logged',
    );
    const text = causes.map(({ stack, message }) => `${stack}${message}`).join();
    for (const secret of [AWS_ACCESS_KEY_ID ?? '', 'quite-wrong', 'Signature=']) t.notOk(text.includes(secret));
  });

  for (const fault of ['refuse', 'silence'] as const) {
    await t.test(`while the server is unavailable (${fault}), calls fail, later ones immediately`, async (t) => {
      const { proxy, images, untilReported } = await openThroughProxy(t);
      const name = await put(images, Buffer.from('there'));
      await proxy.setFault(fault);
      // As many calls of each kind as connections: if calls leaked them, none would be left.
      const calls = Array.from({ length: 4 }, () => [
        images.get(name),
        images.check(),
        put(images, randomBytes(LARGE_BYTES)),
        images.remove('absent.png'),
      ]);
      await expectAllUnavailable(t, calls.flat());
      await untilReported('unavailable');
      proxy.sent = '';
      for (let time = 0; time < 100; time += 1) await t.rejects(images.get(name), StoreUnavailableError);
      t.notMatch(proxy.sent, 'GET ', 'no request is sent');
      await proxy.setFault('none');
      await untilReported('available');
      t.equal(String(await buffer(await openStream(images, name))), 'there');
      await images.remove(await put(images, randomBytes(LARGE_BYTES)));
    });
  }

  await t.test(
    'after all connections have become silent, only one call fails',
    { skip: closesConnections },
    async (t) => {
      const { proxy, images } = await openThroughProxy(t, { poolSize: 8 });
      const name = await put(images, randomBytes(1000));
      await Promise.all(Array.from({ length: 8 }, async () => buffer(await openStream(images, name))));
      await proxy.setFault('half-open');
      await t.rejects(images.get(name), StoreUnavailableError);
      for (let time = 0; time < 8; time += 1) await buffer(await openStream(images, name));
    },
  );

  await t.test('calls that time out do not exceed the maximum number of connections', async (t) => {
    const { proxy, images } = await openThroughProxy(t, { poolSize: 2, timeoutMs: 300 });
    // Longer than the timeout of a call, but shorter than that of the probe, so that the store stays available.
    await proxy.setFault({ latencyMs: 400 });
    let mostOpen = 0;
    const calls: Promise<void>[] = [];
    for (let count = 0; count < 20; count += 1) {
      calls.push(images.check().catch(() => undefined));
      await sleep(50);
      mostOpen = Math.max(mostOpen, proxy.openCount);
    }
    await Promise.all(calls);
    t.ok(mostOpen <= 2 + 1, `${mostOpen} connections, of which one is for the probe`);
  });

  await t.test('a slow download on the only connection does not make the store unavailable', async (t) => {
    const bytes = randomBytes(LARGE_BYTES);
    const requests: (string | undefined)[] = [];
    let isFast = false;
    async function* body() {
      for (let sent = 0; sent < bytes.length; sent += 1000) {
        if (!isFast) await sleep(20);
        yield bytes.subarray(sent, sent + 1000);
      }
    }
    const server = createServer(({ method }, response) => {
      requests.push(method);
      response.setHeader('Content-Length', method === 'HEAD' ? 0 : bytes.length);
      Readable.from(method === 'HEAD' ? [] : body()).pipe(response);
    });
    const local = `http://127.0.0.1:${await listen(t, server)}`;
    const images = await openImages(t, { endpoint: local, timeoutMs: 1000, poolSize: 1 });
    const download = openStream(images, 'slow.png');
    await until(() => requests.length === 1);
    await t.rejects(images.check(), StoreUnavailableError, 'it waits for a connection');
    await until(() => requests.length === 2);
    t.same(requests, ['GET', 'HEAD'], 'the probe has another connection');
    isFast = true;
    t.ok(bytes.equals(await buffer(await download)), 'the download continues');
    await images.check();
  });

  await t.test('an object that arrives a byte at a time fails the call', async (t) => {
    let size = 1000;
    const server = createServer(({ method }, response) => {
      response.writeHead(200, { 'Content-Length': method === 'HEAD' ? 0 : size });
      if (method === 'HEAD') return response.end();
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const local = `http://127.0.0.1:${await listen(t, server)}`;
    const images = await openImages(t, { endpoint: local, timeoutMs: 150, directory: t.testdir() });
    await t.rejects(images.get('small.png'), StoreUnavailableError);
    await t.rejects(images.claimedBy(), StoreUnavailableError);
    size = LARGE_BYTES;
    await t.rejects(images.get('large.png'), StoreUnavailableError);
    t.same(await readdir(t.testdirName), [], 'no file is left');
  });

  for (const how of ['silence', 'reset'] as const) {
    await t.test(`${how} within an image fails the call`, async (t) => {
      const { proxy, images, putDirectly } = await openThroughProxy(t);
      const name = await putDirectly(randomBytes(LARGE_BYTES));
      await proxy.setFault({ afterBytes: 100_000, how });
      await t.rejects(images.get(name), StoreUnavailableError);
      await proxy.setFault('none');
      const bytes = await retryWhileUnavailable(async () => buffer(await openStream(images, name)));
      t.equal(bytes.length, LARGE_BYTES);
    });

    await t.test(`${how} before the response fails the call`, async (t) => {
      const { proxy, images, untilReported } = await openThroughProxy(t);
      const name = await put(images, randomBytes(10));
      await proxy.setFault({ afterBytes: 0, how });
      proxy.sent = '';
      await t.rejects(images.get(name), StoreUnavailableError);
      const attempts = proxy.sent.split(`GET /${bucket}/${name}`).length - 1;
      if (how === 'reset') t.equal(attempts, 2, 'it is repeated once');
      await untilReported('unavailable');
      await proxy.setFault('none');
      await untilReported('available');
      t.equal((await buffer(await openStream(images, name))).length, 10);
    });
  }

  await t.test('an upload whose connection is reset is repeated once', async (t) => {
    const { proxy, images } = await openThroughProxy(t);
    await proxy.setFault({ afterBytes: 0, how: 'reset' });
    proxy.sent = '';
    await t.rejects(put(images, randomBytes(10)), StoreUnavailableError);
    t.equal(proxy.sent.split(`PUT /${bucket}/`).length - 1, 2);
  });

  await t.test('unread images leave no connection open', async (t) => {
    const { proxy, images } = await openThroughProxy(t, { timeoutMs: 5000, poolSize: 3 });
    const name = await put(images, randomBytes(300_000));
    const unread = async () => {
      for (let left = 20; left > 0; left -= 1) (await openStream(images, name)).destroy();
    };
    await Promise.all(Array.from({ length: 10 }, unread));
    t.equal((await buffer(await openStream(images, name))).length, 300_000);
    t.ok(proxy.openCount <= 3, `${proxy.openCount} are open`);
  });

  await t.test('slow readers hold no connection and leave no file', async (t) => {
    const { proxy, images } = await openThroughProxy(t, { timeoutMs: 5000, poolSize: 2, directory: t.testdir() });
    const bytes = randomBytes(LARGE_BYTES);
    const name = await put(images, bytes);
    const slowStreams = await Promise.all(Array.from({ length: 3 }, () => openStream(images, name)));
    t.ok(bytes.equals(await buffer(await openStream(images, name))), 'another reader is served');
    await images.remove(await put(images, randomBytes(10)));
    await until(() => proxy.openCount <= 3);
    const [one, other, abandoned] = slowStreams as [Readable, Readable, Readable];
    abandoned.destroy();
    await proxy.setFault('refuse');
    t.ok(bytes.equals(await buffer(one)), 'the image has been received before it is read');
    t.ok(bytes.equals(await buffer(other)));
    t.same(await readdir(t.testdirName), []);
  });

  await t.test('if a large image cannot be written to disk, only its call fails', async (t) => {
    const images = await openImages(t, { directory: join(uploads, 'missing') });
    const name = await put(images, randomBytes(LARGE_BYTES));
    await t.rejects(images.get(name), StoreUnavailableError);
    await images.check();
  });

  await t.test('reuses connections for consecutive calls', { skip: closesConnections }, async (t) => {
    const { proxy, images } = await openThroughProxy(t, { timeoutMs: 5000 });
    for (const size of [LARGE_BYTES, 1, 0, LARGE_BYTES]) {
      const name = await put(images, randomBytes(size));
      await buffer(await openStream(images, name));
      t.equal(await images.get('absent.png'), undefined);
      await images.remove(name);
    }
    // A request that immediately follows a response may need another connection. Without reuse, each of the 16 calls needs one.
    t.ok(proxy.connections.length <= 8, `${proxy.connections.length} connections`);
  });

  for (const pathStyle of [true, false]) {
    const style = pathStyle ? 'path' : 'virtual-host';
    await t.test(`an image is uploaded as one request with its length, in ${style} style`, async (t) => {
      resolveLocalhostNames(t);
      const proxy = await startProxy(t, endpoint, '80');
      const local = `localhost:${new URL(proxy.url).port}`;
      const images = await openImages(t, { endpoint: `http://${local}`, pathStyle });
      const stored = await images.put('a.png', await writeUpload(uploads, randomBytes(3_000_000))).then(
        () => true,
        () => false,
      );
      const [head = ''] = proxy.sent.split('\r\n\r\n');
      t.match(head, pathStyle ? `PUT /${bucket}/a.png?` : 'PUT /a.png?');
      t.match(head, `\r\nhost: ${pathStyle ? local : `${bucket}.${local}`}\r\n`);
      t.match(`${head}\r\n`, '\r\ncontent-length: 3000000\r\n');
      t.notMatch(head, /aws-chunked|x-amz-trailer|transfer-encoding|expect:/i);
      t.equal(proxy.connections.length, 1);
      if (stored || pathStyle) t.equal((await buffer(await openStream(images, 'a.png'))).length, 3_000_000);
      else
        t.pass('the uploaded image is stored', { skip: 'the server does not support virtual hosts under localhost' });
    });
  }
}

async function expectAllUnavailable(t: Test, calls: Promise<unknown>[]): Promise<void> {
  const settled = await Promise.allSettled(calls);
  t.ok(settled.every((call) => call.status === 'rejected' && call.reason instanceof StoreUnavailableError));
}

/** Resolves names below localhost to loopback (RFC 6761, section 6.3), which not every resolver does. */
function resolveLocalhostNames(t: Test): void {
  const { lookup } = dns;
  const local = (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest]);
  dns.lookup = Object.assign(local, lookup) as typeof lookup;
  t.teardown(() => {
    dns.lookup = lookup;
  });
}
