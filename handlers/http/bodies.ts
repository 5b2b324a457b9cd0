import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../generated/routes.js';
import { imageTypes } from '../policy/image-types.js';
import { type HttpError, payloadTooLarge, unsupportedMediaType } from './errors.js';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** RFC 9110 section 8.3.1, without the parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

const JSON_MAX_BYTES = 64 * 1024;

/** What a request has brought as its body. */
export type Body =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  /** A multipart form, not yet read. */
  | { kind: 'form' }
  | { kind: 'bad'; message: string };

/** Thrown by a parser, an error would have Fastify close on a client that is still sending, who would lose the answer. */
type Parsed = Body | { kind: 'refused'; error: HttpError };

export const NO_BODY = 'this operation takes no body';

const NONE: Body = { kind: 'none' };

/**
 * Reads bodies by what the operation takes, not by what the request declares. It stands in for all of Fastify's own parsers,
 * which would leave a body unread where its type is missing, or the method usually has none.
 */
export function registerBodyParser(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  for (const method of ['GET', 'HEAD']) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  // fastify-openapi-glue looks for every media type that the contract names, so `*` alone would have it warn.
  const types = ['*', JSON_TYPE, FORM_TYPE, ...imageTypes.map(({ mediaType }) => mediaType)];
  server.addContentTypeParser(types, async (request: FastifyRequest, payload: Readable) =>
    readBody(payload, request.mediaType, request.routeOptions.config.operation),
  );
  server.addHook('onRequest', async ({ raw: { headers } }) => {
    const type = headers['content-type'];
    // RFC 9110 section 8.3: a type that cannot be read may be taken for this one.
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
  });
}

/**
 * What `readBody` made of the request; a request that declares no body at all never came to it.
 *
 * @throws HttpError 413, 415
 */
export function bodyOf(request: FastifyRequest): Body {
  const body = (request.body as Parsed | undefined) ?? NONE;
  if (body.kind === 'refused') throw body.error;
  return body;
}

async function readBody(
  payload: Readable,
  mediaType: string | undefined,
  operation: Operation | undefined,
): Promise<Parsed> {
  const expected = operation?.body?.mediaType;
  if (mediaType === FORM_TYPE && expected === FORM_TYPE) return { kind: 'form' };
  const readable = mediaType === JSON_TYPE && (expected ?? JSON_TYPE) === JSON_TYPE;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop must not close the connection: the answer has to go out on it.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > 0 && !readable) return refuse(expected);
      if (size > JSON_MAX_BYTES && expected) return { kind: 'refused', error: payloadTooLarge() };
      if (size > JSON_MAX_BYTES) return refuse(undefined);
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'bad', message: 'ended before it was complete' };
  } finally {
    payload.resume();
  }
  return size === 0 ? NONE : parseJson(Buffer.concat(chunks));
}

function refuse(expected: string | undefined): Parsed {
  if (expected) return { kind: 'refused', error: unsupportedMediaType(expected) };
  return { kind: 'bad', message: NO_BODY };
}

function parseJson(bytes: Uint8Array): Body {
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { kind: 'bad', message: 'must be valid JSON in UTF-8' };
  }
}
