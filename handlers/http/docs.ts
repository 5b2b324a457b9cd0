import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { etagOf, matches } from '../etags.js';
import { OPEN_TO_ALL } from './cors.js';
import { POLICY, page, SCRIPT, STYLE } from './explorer.js';

export interface ContractDocument {
  /** As it was written, byte for byte. */
  yaml: Buffer;
  json: Buffer;
  parsed: { tags: readonly { name: string }[] };
}

const { resolve } = createRequire(import.meta.url);

export async function readDocument(): Promise<ContractDocument> {
  const [yaml, json] = await Promise.all([readFile(resolve('#openapi.yaml')), readFile(resolve('#openapi.json'))]);
  return { yaml, json, parsed: JSON.parse(json.toString()) };
}

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** The document, and Swagger UI over it. Neither needs credentials nor counts in a limit. */
export async function registerDocs(server: FastifyInstance, document: ContractDocument): Promise<void> {
  const unlimited = { config: { unlimited: true } };
  const readable = { config: { unlimited: true, cors: OPEN_TO_ALL } };

  for (const [path, type, bytes] of [
    ['/openapi.yaml', 'application/yaml', document.yaml],
    ['/openapi.json', 'application/json', document.json],
  ] as const) {
    const etag = etagOf(bytes);
    server.get(path, readable, async (request, reply) => {
      // Whoever keeps a copy asks whether it is still good.
      reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' });
      if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type(type).send(bytes);
    });
  }

  const html = page(document.parsed.tags.map(({ name }) => name));
  await server.register(async (docs) => {
    docs.addHook('onRequest', async (_, reply) => {
      reply.headers({
        'Content-Security-Policy': POLICY,
        'Referrer-Policy': 'no-referrer',
      });
    });
    docs.get('/docs', unlimited, async (_, reply) => reply.type('text/html; charset=utf-8').send(html));
    docs.get('/docs/explorer.js', unlimited, async (_, reply) => reply.type('text/javascript').send(SCRIPT));
    docs.get('/docs/explorer.css', unlimited, async (_, reply) => reply.type('text/css').send(STYLE));
    await docs.register(fastifyStatic, { root: dirname(resolve('swagger-ui-dist/package.json')), serve: false });
    for (const asset of ASSETS) docs.get(`/docs/${asset}`, unlimited, (_, reply) => reply.sendFile(asset));
  });
}
