import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type CheckedResponse, contract } from '../client/index.js';
import { expectEqual, expectErrorShape, expectNoRateLimit, expectThat } from '../expect.js';
import { OTHER_ORIGIN } from '../fixtures.js';
import { type Rule, rule } from '../rule.js';
import type { TestUsers } from '../users.js';
import { requireOwnParser } from './http-parsing.js';

/** The paths of the explorer and the document, which are not operations. */
export const DOCUMENT_PATHS = ['/docs', '/openapi.yaml', '/openapi.json'];

/** Returns the response to a request without credentials for one of these paths. Checks its media type. */
async function getDocument({ anonymous }: TestUsers, path: string, headers = {}): Promise<CheckedResponse> {
  const response = await anonymous.send(200, `GET ${path}`, { headers });
  const type = path.split('.')[1] ?? 'html';
  expectThat(response.headers.get('content-type')?.includes(type), `a media type with ${type}`, response);
  return response;
}

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

/** Rules about the OpenAPI document that the service serves, and its explorer. */
export const docsRules: Rule[] = [
  rule(
    'http.docs.open',
    'GET /openapi.yaml, /openapi.json and /docs need no credentials and are not rate limited. Pages of every origin can read the document (CORS).',
    async (users) => {
      for (const path of DOCUMENT_PATHS) expectNoRateLimit(await getDocument(users, path));
      const headers = { Origin: OTHER_ORIGIN };
      for (const path of ['/openapi.yaml', '/openapi.json']) {
        for (const [status, request, content] of [
          [200, `GET ${path}`, { headers }],
          [200, `HEAD ${path}`, { headers }],
          [204, `OPTIONS ${path}`, { headers: { ...headers, 'Access-Control-Request-Method': 'GET' } }],
        ] as const) {
          const response = await users.anonymous.send(status, request, content);
          const header = (name: string) => response.headers.get(`access-control-allow-${name}`);
          expectEqual(response, 'Access-Control-Allow-Origin', header('origin'), '*');
          expectEqual(response, 'Access-Control-Allow-Credentials', header('credentials'), null);
        }
      }
    },
  ),

  rule(
    'http.docs.body',
    'GET of /openapi.yaml, /openapi.json and /docs, and CORS preflights, are answered without waiting for a body.',
    async (users) => {
      await requireOwnParser(users);
      const headers = { 'Content-Length': '10', Connection: 'close' };
      for (const path of DOCUMENT_PATHS) await users.anonymous.send(200, `GET ${path}`, { headers });
      const preflight = { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'GET' };
      await users.anonymous.send(204, 'OPTIONS /posts', { headers: { ...headers, ...preflight } });
    },
  ),

  rule(
    'http.docs.compressed',
    'The document and /docs may be compressed if Accept-Encoding allows it. Content-Encoding states how.',
    async (users) => {
      for (const path of DOCUMENT_PATHS) {
        const { bytes } = await getDocument(users, path);
        for (const accepted of ['gzip', 'br', 'gzip;q=0, identity']) {
          const response = await getDocument(users, path, { 'Accept-Encoding': accepted });
          const encoding = response.headers.get('content-encoding') ?? 'identity';
          const allowed = ['identity', ...accepted.split(', ')];
          expectThat(allowed.includes(encoding), `a Content-Encoding that ${accepted} allows`, response);
          const decoded = DECODERS[encoding]?.(response.bytes);
          expectThat(decoded?.equals(bytes), 'the same content as without compression', response);
        }
      }
    },
  ),

  rule(
    'http.docs.redirects',
    'GET and HEAD of /, /docs/ and /docs/index.html redirect to /docs, without credentials or a rate limit. Other methods return 405.',
    async (users) => {
      for (const path of ['/', '/docs/', '/docs/index.html']) {
        for (const method of ['GET', 'HEAD']) {
          const response = await users.anonymous.send([301, 302, 303, 307, 308], `${method} ${path}`);
          const { url } = response.exchange;
          const explorer = new URL(url);
          explorer.pathname = explorer.pathname.slice(0, -path.length).concat('/docs');
          const location = response.headers.get('location') ?? '';
          expectEqual(response, 'Location', new URL(location, url).href, explorer.href);
          expectNoRateLimit(response);
        }
        expectErrorShape(await users.anonymous.send(405, `POST ${path}`));
      }
    },
  ),

  rule(
    'http.docs.operations',
    'The served OpenAPI document describes exactly the operations of the contract.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.json');
      const paths = response.body.paths as Record<string, Record<string, { operationId?: string }>>;
      const served = Object.values(paths).flatMap((operations) => Object.values(operations));
      const servedIds = served.flatMap(({ operationId }) => operationId ?? []);
      expectEqual(response, 'the operations', servedIds.sort(), contract.map(({ id }) => id).sort());
    },
  ),

  rule(
    'http.docs.assets',
    'The scripts and styles of the service that /docs loads are served with their media types, without credentials or a rate limit.',
    async (users) => {
      const page = await getDocument(users, '/docs');
      const html = page.bytes.toString();
      const tags = [...html.matchAll(/<(?:script|link)\b[^>]*?(?:src|href)=["']?([^"'\s>]+\.(css|js))\b/g)];
      const { origin, pathname } = new URL(page.exchange.url);
      const base = pathname.replace(/\/docs$/, '');
      for (const [, reference = '', extension = ''] of tags) {
        const asset = new URL(reference, page.exchange.url);
        if (asset.origin !== origin) continue;
        const path = asset.pathname.startsWith(`${base}/`) ? asset.pathname.slice(base.length) : asset.pathname;
        const response = await users.anonymous.send(200, `GET ${path}`);
        const type = response.headers.get('content-type') ?? '';
        const expected = extension === 'js' ? /^(text|application)\/javascript/ : /^text\/css/;
        expectThat(expected.test(type), `the media type of a .${extension} file`, response);
        expectNoRateLimit(response);
      }
    },
  ),
];
