import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../generated/routes.js';
import { imageTypes } from '../policy/image-types.js';
import { type HttpError, payloadTooLarge, unsupportedMediaType } from './errors.js';

/*
 * Body parsing. One parser replaces all of Fastify's own, which leave a body unread if its type is missing or if its method
 * usually has none. How it reads a body depends on the type that the operation expects, not only on the declared type:
 *
 * - JSON is read into memory, up to `MAX_JSON_BYTES`.
 * - A multipart form is left on the stream for `readForm`.
 * - Any other body is refused at its first byte. An empty body counts as no body.
 *
 * The parser returns a refusal instead of throwing it. If it threw, Fastify would close the connection of a client that is
 * still sending, which could then lose the response. `parsedBody` throws the refusal later; the rest of the body is drained.
 */

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** A media type (RFC 9110 section 8.3.1), up to its parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

const MAX_JSON_BYTES = 64 * 1024;

/** The body of a request. */
export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  /** A multipart form, not yet read. */
  | { kind: 'form' }
  /** Reported together with the other problems of the request, in one 400. */
  | { kind: 'invalid'; message: string };

/** `refused` stands for a 413 or 415. */
type ParserResult = RequestBody | { kind: 'refused'; error: HttpError };

export const UNEXPECTED_BODY_MESSAGE = 'this operation takes no body';

const NO_BODY: RequestBody = { kind: 'none' };

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
    // RFC 9110 section 8.3: a malformed media type may be treated as application/octet-stream.
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
  });
}

/**
 * Returns the parsed body of a request. `request.body` is undefined if the request declares no body: no parser runs then.
 *
 * @throws HttpError 413, 415
 */
export function parsedBody(request: FastifyRequest): RequestBody {
  const body = (request.body as ParserResult | undefined) ?? NO_BODY;
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
  const isExpectedJson = mediaType === JSON_TYPE && (expected ?? JSON_TYPE) === JSON_TYPE;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop must not close the connection, which still has to carry the response.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > 0 && !isExpectedJson) return unexpectedBody(expected);
      if (size > MAX_JSON_BYTES && expected) return { kind: 'refused', error: payloadTooLarge() };
      if (size > MAX_JSON_BYTES) return unexpectedBody(undefined);
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'invalid', message: 'is incomplete' };
  } finally {
    payload.resume();
  }
  return size === 0 ? NO_BODY : parseJson(Buffer.concat(chunks));
}

function unexpectedBody(expected: string | undefined): ParserResult {
  if (expected) return { kind: 'refused', error: unsupportedMediaType(expected) };
  return { kind: 'invalid', message: UNEXPECTED_BODY_MESSAGE };
}

function parseJson(bytes: Uint8Array): RequestBody {
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { kind: 'invalid', message: 'must be valid JSON in UTF-8' };
  }
}
