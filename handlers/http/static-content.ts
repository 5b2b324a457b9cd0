import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BoundedQueue } from '../../db/support/bounded-queue.js';
import { etagOf, matchesEtag } from '../etags.js';
import { withinBudget } from './response-budget.js';

/** The supported encodings, in order of preference. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Brotli uses quality 9, because quality 11 takes seconds per megabyte and saves only a few percent. */
const compress: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/** The content in one encoding. */
interface Variant {
  bytes: Buffer;
  etag: string;
}

interface StaticContent {
  type: string;
  bytes: Buffer;
  /** False for formats that are already compressed, such as images. */
  compressible?: boolean;
  /** The current version. If the path parameter `version` has this value, the response is cached as immutable. */
  version?: string;
}

/** The Cache-Control of content that never changes. A year is the longest time that caches are expected to support. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Creates a route handler that serves constant content. Each encoding is computed once, when it is first requested. */
export function createStaticHandler(
  { type, bytes, compressible = true, version }: StaticContent,
  budget: BoundedQueue,
) {
  const variants = new Map<Encoding | undefined, Promise<Variant>>();

  async function encode(encoding: Encoding | undefined): Promise<Variant> {
    const encoded = encoding === undefined ? bytes : await compress[encoding](bytes);
    return { bytes: encoded, etag: etagOf(encoded) };
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { 'accept-encoding': accepted, 'if-none-match': ifNoneMatch } = request.headers;
    const encoding = compressible ? negotiateEncoding(accepted) : undefined;
    const pending = variants.get(encoding) ?? encode(encoding);
    variants.set(encoding, pending);
    const variant = await pending;
    // During a rolling upgrade, a page of another version may request its assets here. Caches must revalidate this response,
    // because it is not the version that the URL names.
    const { version: requested } = request.params as { version?: string };
    const immutable = version !== undefined && requested === version;
    reply.headers({ ETag: variant.etag, 'Cache-Control': immutable ? IMMUTABLE : 'no-cache' });
    // CORS may already have set `Vary: Origin`.
    if (compressible) reply.header('Vary', [reply.getHeader('Vary') ?? [], 'Accept-Encoding'].flat().join(', '));
    if (matchesEtag(ifNoneMatch, variant.etag)) return reply.code(304).send();
    reply.type(type);
    if (encoding) reply.header('Content-Encoding', encoding);
    return withinBudget(budget, variant.bytes, request, reply);
  };
}

/** Returns the first of `ENCODINGS` that the client accepts (RFC 9110 section 12.5.3), or undefined if it accepts none. */
export function negotiateEncoding(acceptEncoding = ''): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', weight = 'q=1'] = item.split(';').map((part) => part.trim());
    weights.set(name, Number(weight.slice('q='.length)));
  }
  return ENCODINGS.find((encoding) => (weights.get(encoding) ?? weights.get('*') ?? 0) > 0);
}
