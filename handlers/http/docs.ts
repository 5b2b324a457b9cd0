import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { OPEN_TO_ALL } from './cors.js';
import { POLICY, page, SCRIPT, STYLE } from './explorer.js';
import type { ResponseBudget } from './response-budget.js';
import { staticContent } from './static-content.js';

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

const ASSETS = [
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
] as const;

/** The document, and Swagger UI over it. Neither needs credentials nor counts in a limit. */
export async function registerDocs(
  server: FastifyInstance,
  document: ContractDocument,
  budget: ResponseBudget,
): Promise<void> {
  const unlimited = { config: { unlimited: true } };
  const readable = { config: { unlimited: true, cors: OPEN_TO_ALL } };

  for (const [path, type, bytes] of [
    ['/openapi.yaml', 'application/yaml', document.yaml],
    ['/openapi.json', 'application/json', document.json],
  ] as const) {
    server.get(path, readable, staticContent({ type, bytes }, budget));
  }

  const html = page(document.parsed.tags.map(({ name }) => name));
  const assets = dirname(resolve('swagger-ui-dist/package.json'));
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
    for (const [name, type] of ASSETS) {
      const bytes = await readFile(join(assets, name));
      const compressible = type !== 'image/png';
      docs.get(`/docs/${name}`, unlimited, staticContent({ type, bytes, compressible }, budget));
    }
  });
}
