import { syncBuiltinESMExports } from 'node:module';
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { negotiateEncoding } from '../handlers/http/static-content.js';
import { createSender } from './support/http.js';
import { startTestService } from './support/service.js';

/* The OpenAPI document and the explorer. */

const service = await startTestService(t);
const send = createSender(t, service.url);

t.test('chooses the best encoding that the client accepts', async (t) => {
  for (const [header, expected] of [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['br; q=0.000, gzip; q=0', undefined],
    ['*', 'br'],
    ['*;q=0.5, br;q=0', 'gzip'],
    ['br;q=x', undefined],
  ] as const) {
    t.equal(negotiateEncoding(header), expected, String(header));
  }
});

t.test('compresses the document and the assets of the explorer, with an entity tag for each encoding', async (t) => {
  const tags = new Set<string>();
  const assets = await readAssets();
  const paths = ['/openapi.yaml', '/openapi.json', '/docs', ...assets.filter((path) => !path.endsWith('.png'))];
  for (const path of paths) {
    const get = (headers: Record<string, string>) => send('GET', path, { headers });
    const plain = await get({});
    for (const [encoding, decode] of [
      [null, (bytes: Buffer) => bytes],
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const accept = { 'Accept-Encoding': encoding ?? 'identity' };
      const { headers, bytes } = await get(accept);
      t.equal(headers.get('content-encoding'), encoding);
      t.match(headers.get('vary'), /\baccept-encoding\b/i);
      t.ok(decode(bytes).equals(plain.bytes), `${path} ${encoding}`);
      const etag = headers.get('etag') ?? '';
      t.match(etag, /^"[\w-]{43}"$/, 'a strong entity tag');
      tags.add(etag);
      const notModified = await get({ ...accept, 'If-None-Match': etag });
      t.same([notModified.status, notModified.headers.get('etag'), notModified.bytes.length], [304, etag, 0]);
      t.notOk(notModified.headers.has('content-type'));
      t.notOk(notModified.headers.has('content-length'), 'RFC 9110 section 8.6');
      t.match(notModified.headers.get('vary'), /\baccept-encoding\b/i);
      const otherBytes = await get({ 'Accept-Encoding': encoding === 'br' ? 'gzip' : 'br', 'If-None-Match': etag });
      t.equal(otherBytes.status, 200, 'another encoding has other bytes');
    }
  }
  // One asset is the document, with the same bytes and entity tags as /openapi.json.
  t.equal(tags.size, 3 * (paths.length - 1));
});

t.test('the document names the base URL, but the document of the explorer does not', async (t) => {
  const { url } = await startTestService(t, { PUBLIC_URL: 'https://social.example' });
  const read = async (path: string) => (await fetch(url + path)).text();
  t.equal(JSON.parse(await read('/openapi.json')).servers[0].url, 'https://social.example');
  t.match(await read('/openapi.yaml'), '\nservers:\n  - url: https://social.example\n');
  const [, asset = ''] = /data-document="([^"]+)"/.exec(await read('/docs')) ?? [];
  t.equal(JSON.parse(await read(asset)).servers[0].url, '/', 'it sends requests to its own origin');
});

t.test('a failed compression is retried at the next request', async (t) => {
  const { brotliCompress } = zlib;
  t.teardown(() => replaceCompression(brotliCompress));
  const { url } = await startTestService(t);
  const get = createSender(t, url);
  const statusOf = async () => (await get('GET', '/openapi.yaml', { headers: { 'Accept-Encoding': 'br' } })).status;
  replaceCompression(() => {
    throw new Error('out of memory');
  });
  t.equal(await statusOf(), 500);
  replaceCompression(brotliCompress);
  t.equal(await statusOf(), 200);
});

function replaceCompression(brotliCompress: unknown): void {
  Object.assign(zlib, { brotliCompress });
  syncBuiltinESMExports();
}

t.test('browsers cache the assets of the explorer, and revalidate the page and the document each time', async (t) => {
  const cacheControl = async (path: string) => (await send('GET', path)).headers.get('cache-control');
  for (const path of ['/docs', '/openapi.yaml', '/openapi.json']) t.equal(await cacheControl(path), 'no-cache', path);
  for (const path of await readAssets()) {
    t.equal(await cacheControl(path), 'public, max-age=31536000, immutable', path);
    t.equal((await send('GET', path)).headers.get('x-content-type-options'), 'nosniff', path);
    t.equal(await cacheControl(path.replace(/[0-9a-f]{16}/, '0123456789abcdef')), 'no-cache', 'another version');
  }
});

/** Returns the paths of the files that the explorer's page loads. */
async function readAssets(): Promise<string[]> {
  const html = (await send('GET', '/docs')).bytes.toString();
  const assets = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  t.match(assets.join(), /swagger-ui-bundle\.js/);
  return assets;
}
