import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../generated/routes.js';
import { imageTypes } from '../policy/image-types.js';
import { type HttpError, payloadTooLarge, unsupportedMediaType } from './errors.js';

/*
 * Body parsing. One parser replaces all of Fastify's own, which leave a body unread if its type is missing or if its method
 * usually has none. What it reads depends on what the operation expects, not only on what the request declares:
 *
 * - JSON is read into memory, up to `JSON_MAX_BYTES`.
 * - A multipart form is left on the stream for `readForm`.
 * - Any other body is refused at its first byte; an empty body counts as none.
 *
 * The parser returns a refusal instead of throwing it. If it threw, Fastify would close the connection of a client that is
 * still sending, which could then lose the response. `parsedBody` throws the refusal later; the rest of the body is drained.
 */

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** A media type (RFC 9110 section 8.3.1), up to its parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

const JSON_MAX_BYTES = 64 * 1024;

/** The body of a request. */
export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  /** A multipart form, not yet read. */
  | { kind: 'form' }
  | { kind: 'bad'; message: string };

type ParserResult = RequestBody | { kind: 'refused'; error: HttpError };

export const NO_BODY = 'this operation takes no body';

const NONE: RequestBody = { kind: 'none' };

/** Replaces Fastify's body parsers, for all methods and media types. */
export function registerBodyParser(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  for (const method of ['GET', 'HEAD']) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  // fastify-openapi-glue warns about every media type of the contract that has no parser of its own; it does not know `*`.
  const types = ['*', JSON_TYPE, FORM_TYPE, ...imageTypes.map(({ mediaType }) => mediaType)];
  server.addContentTypeParser(types, async (request: FastifyRequest, payload: Readable) =>
    readBody(payload, request.mediaType, request.routeOptions.config.operation),
  );
  server.addHook('onRequest', async ({ raw: { headers } }) => {
    const type = headers['content-type'];
    // RFC 9110 section 8.3: a malformed media type may be treated as this one.
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
  });
}

/**
 * Returns the parsed body of a request. The parser does not run for a request that declares no body.
 *
 * @throws HttpError 413, 415
 */
export function parsedBody(request: FastifyRequest): RequestBody {
  const body = (request.body as ParserResult | undefined) ?? NONE;
  if (body.kind === 'refused') throw body.error;
  return body;
}

async function readBody(
  payload: Readable,
  mediaType: string | undefined,
  operation: Operation | undefined,
): Promise<ParserResult> {
  const expected = operation?.body?.mediaType;
  if (mediaType === FORM_TYPE && expected === FORM_TYPE) return { kind: 'form' };
  const readable = mediaType === JSON_TYPE && (expected ?? JSON_TYPE) === JSON_TYPE;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop must not close the connection: it still has to carry the response.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > 0 && !readable) return refuse(expected);
      if (size > JSON_MAX_BYTES && expected) return { kind: 'refused', error: payloadTooLarge() };
      if (size > JSON_MAX_BYTES) return refuse(undefined);
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'bad', message: 'is incomplete' };
  } finally {
    payload.resume();
  }
  return size === 0 ? NONE : parseJson(Buffer.concat(chunks));
}

function refuse(expected: string | undefined): ParserResult {
  if (expected) return { kind: 'refused', error: unsupportedMediaType(expected) };
  return { kind: 'bad', message: NO_BODY };
}

function parseJson(bytes: Uint8Array): RequestBody {
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { kind: 'bad', message: 'must be valid JSON in UTF-8' };
  }
}
