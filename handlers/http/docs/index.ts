import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { ALLOW_ANY_ORIGIN } from '../cors.js';
import type { ResponseBudget } from '../response-budget.js';
import { createStaticHandler } from '../static-content.js';

/** The OpenAPI document, as it is served and parsed. */
export interface ContractDocument {
  /** `openapi.yaml`, byte for byte. */
  yaml: Buffer;
  json: Buffer;
  parsed: object;
}

const { resolve } = createRequire(import.meta.url);

export async function readDocument(): Promise<ContractDocument> {
  const [yaml, json] = await Promise.all([readFile(resolve('#openapi.yaml')), readFile(resolve('#openapi.json'))]);
  return { yaml, json, parsed: JSON.parse(json.toString()) };
}

/** Allows scripts, styles and requests of this service only. */
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

/** The paths, files and types of what is served under `/docs`. */
const ASSETS = [
  ['/docs', resolve('#explorer/explorer.html'), 'text/html; charset=utf-8'],
  ['/docs/explorer.css', resolve('#explorer/explorer.css'), 'text/css; charset=utf-8'],
  ['/docs/explorer.js', resolve('#explorer/explorer.js'), 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', join(SWAGGER_UI, 'swagger-ui.css'), 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', join(SWAGGER_UI, 'swagger-ui-bundle.js'), 'text/javascript; charset=utf-8'],
  ['/docs/favicon-32x32.png', join(SWAGGER_UI, 'favicon-32x32.png'), 'image/png'],
] as const;

/** Serves the contract document and Swagger UI. Both are public and are not rate limited. */
export async function registerDocs(
  server: FastifyInstance,
  document: ContractDocument,
  budget: ResponseBudget,
): Promise<void> {
  const publicRoute = { config: { unlimited: true, cors: ALLOW_ANY_ORIGIN } };
  server.get(
    '/openapi.yaml',
    publicRoute,
    createStaticHandler({ type: 'application/yaml', bytes: document.yaml }, budget),
  );
  server.get(
    '/openapi.json',
    publicRoute,
    createStaticHandler({ type: 'application/json', bytes: document.json }, budget),
  );

  await server.register(async (docs) => {
    docs.addHook('onRequest', async (_, reply) => {
      reply.headers({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' });
    });
    for (const [path, file, type] of ASSETS) {
      const content = { type, bytes: await readFile(file), compressible: type !== 'image/png' };
      docs.get(path, { config: { unlimited: true } }, createStaticHandler(content, budget));
    }
  });
}
