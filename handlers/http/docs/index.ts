import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { BoundedQueue } from '../../../db/support/bounded-queue.js';
import { ALLOW_ANY_ORIGIN } from '../cors.js';
import { createStaticHandler } from '../static-content.js';

/** The OpenAPI document: its files, and the parsed object. */
export interface ContractDocument {
  yaml: Buffer;
  json: Buffer;
  parsed: object;
}

const { resolve } = createRequire(import.meta.url);

export async function readDocument(): Promise<ContractDocument> {
  const [yaml, json] = await Promise.all([readFile(resolve('#openapi.yaml')), readFile(resolve('#openapi.json'))]);
  return { yaml, json, parsed: JSON.parse(json.toString()) };
}

/** Allows only scripts and styles from this service, and requests to it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI's icons are data URLs; it shows downloaded images as blobs.
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SWAGGER_UI = dirname(resolve('swagger-ui-dist/package.json'));

/** The files that the explorer's page loads. */
const ASSETS = [
  ...['explorer.css', 'explorer.js', 'document.js', 'forms.js', 'layout.js', 'responses.js', 'session.js'].map((name) =>
    resolve(`#explorer/${name}`),
  ),
  ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map((name) => join(SWAGGER_UI, name)),
];

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
};

/**
 * Other paths at which people look for the explorer. The targets are relative, so that they keep the path prefix of a
 * proxy.
 */
const REDIRECTS = [
  ['/', 'docs'],
  ['/docs/', '../docs'],
  ['/docs/index.html', '../docs'],
] as const;

/**
 * Serves the OpenAPI document and the explorer, which is Swagger UI with plugins. Both are public and not rate limited.
 *
 * The URLs of the explorer's assets contain their version, which is a hash of all assets. So browsers can cache them
 * permanently.
 */
export async function registerDocs(
  server: FastifyInstance,
  document: ContractDocument,
  publicUrl: URL,
  budget: BoundedQueue,
): Promise<void> {
  const files = await Promise.all(ASSETS.map(async (file) => ({ name: basename(file), bytes: await readFile(file) })));
  const assets = [...files, { name: 'openapi.json', bytes: document.json }];
  const version = versionOf(assets.map(({ bytes }) => bytes));
  const page = await readFile(resolve('#explorer/explorer.html'), 'utf8');
  const pageBytes = Buffer.from(page.replaceAll('{version}', version));

  const route = { config: { exemptFromRateLimit: true } };
  const publicRoute = { config: { ...route.config, cors: ALLOW_ANY_ORIGIN } };
  for (const [path, type, bytes] of [
    ['/openapi.yaml', 'application/yaml', document.yaml],
    ['/openapi.json', 'application/json', document.json],
  ] as const) {
    server.get(path, publicRoute, createStaticHandler({ type, bytes: withServer(bytes, publicUrl) }, budget));
  }

  for (const [path, location] of REDIRECTS) {
    server.get(path, route, (_, reply) => reply.redirect(location));
  }

  await server.register(async (docs) => {
    docs.addHook('onRequest', async (_, reply) => {
      reply.headers({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' });
    });
    docs.get('/docs', route, createStaticHandler({ type: 'text/html; charset=utf-8', bytes: pageBytes }, budget));
    for (const { name, bytes } of assets) {
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      const content = { type, bytes, compressible: type !== 'image/png', version };
      docs.get(`/docs/:version/${name}`, route, createStaticHandler(content, budget));
    }
  });
}

/** Addresses that are not a base URL: the service listens on all interfaces, or on a free port. */
const NO_BASE_URL = /^http:\/\/(0\.0\.0\.0|\[::\])|:0$/;

/**
 * Returns the document, in YAML or JSON, with the base URL in place of `/` in `servers`, so that tools which import a copy have an
 * address. The explorer uses the document with `/`, because it must send its requests to its own origin.
 */
function withServer(document: Buffer, { origin }: URL): Buffer {
  if (NO_BASE_URL.test(origin)) return document;
  return Buffer.from(document.toString().replace(/(\burl"?: "?)\/(?="?,?$)/m, `$1${origin}`));
}

function versionOf(contents: Buffer[]): string {
  const hash = createHash('sha256');
  for (const bytes of contents) hash.update(bytes);
  return hash.digest('hex').slice(0, 16);
}
