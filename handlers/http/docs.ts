import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { OPEN_TO_ALL } from './cors.js';

export interface ContractDocument {
  /** As it was written, byte for byte. */
  yaml: Buffer;
  json: Buffer;
  parsed: object;
}

const { resolve } = createRequire(import.meta.url);

export async function readDocument(): Promise<ContractDocument> {
  const [yaml, json] = await Promise.all([readFile(resolve('#openapi.yaml')), readFile(resolve('#openapi.json'))]);
  return { yaml, json, parsed: JSON.parse(json.toString()) };
}

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Social posting service: API explorer</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="explorer"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/explorer.js"></script>
  </body>
</html>
`;

const SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#explorer',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** The document, and Swagger UI over it. Neither needs credentials nor counts in a limit. */
export async function registerDocs(server: FastifyInstance, document: ContractDocument): Promise<void> {
  const unlimited = { config: { unlimited: true } };
  const readable = { config: { unlimited: true, cors: OPEN_TO_ALL } };

  server.get('/openapi.yaml', readable, async (_, reply) => reply.type('application/yaml').send(document.yaml));
  server.get('/openapi.json', readable, async (_, reply) => reply.type('application/json').send(document.json));

  await server.register(async (docs) => {
    docs.addHook('onRequest', async (_, reply) => {
      reply.headers({
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      });
    });
    docs.get('/docs', unlimited, async (_, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
    docs.get('/docs/explorer.js', unlimited, async (_, reply) => reply.type('text/javascript').send(SCRIPT));
    await docs.register(fastifyStatic, { root: dirname(resolve('swagger-ui-dist/package.json')), serve: false });
    for (const asset of ASSETS) docs.get(`/docs/${asset}`, unlimited, (_, reply) => reply.sendFile(asset));
  });
}
