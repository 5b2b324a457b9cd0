import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOf, matches } from './etags.js';
import { LARGE_BYTES, type ResponseBudget, sendLarge } from './response-budget.js';

/** The best come first. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** On Node's thread pool. The highest quality takes seconds for a megabyte, and saves some percent. */
const compress: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

interface Variant {
  bytes: Buffer;
  etag: string;
}

export interface StaticContent {
  type: string;
  bytes: Buffer;
  /** Images are compressed already. */
  compressible?: boolean;
}

/** Creates a route handler for bytes that stay the same while the process runs. Each encoding is made once, on first use. */
export function staticContent({ type, bytes, compressible = true }: StaticContent, budget: ResponseBudget) {
  const variants = new Map<Encoding | undefined, Promise<Variant>>();

  async function makeVariant(encoding: Encoding | undefined): Promise<Variant> {
    const encoded = encoding === undefined ? bytes : await compress[encoding](bytes);
    return { bytes: encoded, etag: etagOf(encoded) };
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { 'accept-encoding': accepted, 'if-none-match': ifNoneMatch } = request.headers;
    const encoding = compressible ? encodingFor(accepted) : undefined;
    const making = variants.get(encoding) ?? makeVariant(encoding);
    variants.set(encoding, making);
    const variant = await making;
    reply.headers({ ETag: variant.etag, 'Cache-Control': 'no-cache' });
    // Beside the Origin that CORS may have put there.
    if (compressible) reply.header('Vary', [reply.getHeader('Vary') ?? [], 'Accept-Encoding'].flat().join(', '));
    if (matches(ifNoneMatch, variant.etag)) return reply.code(304).send();
    reply.type(type);
    if (encoding) reply.header('Content-Encoding', encoding);
    if (variant.bytes.length <= LARGE_BYTES || request.method === 'HEAD') return variant.bytes;
    return sendLarge(budget, variant.bytes, request, reply);
  };
}

/** Returns the best encoding that a client accepts (RFC 9110 section 12.5.3), undefined for none. */
export function encodingFor(acceptEncoding: string | string[] = ''): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const item of String(acceptEncoding).toLowerCase().split(',')) {
    const [name = '', weight = 'q=1'] = item.split(';').map((part) => part.trim());
    weights.set(name, Number(weight.slice('q='.length)));
  }
  return ENCODINGS.find((encoding) => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0);
}
