import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyTooLarge, type HttpError, type Reason, reason, unsupportedMediaType } from '../errors.js';
import type { Operation } from '../operation.js';
import { imageTypes } from '../policy/image-types.js';
import { ByteCollector, countSmallChunks } from './small-chunks.js';

/*
 * Body parsing. A single parser replaces those of Fastify, which do not read a body without a Content-Type, or the body of a
 * method that usually has none. The parser considers the media type that the operation expects and the one that the request
 * declares:
 *
 * - JSON is read into memory, up to `MAX_JSON_BYTES`, if the operation expects JSON or no body at all.
 * - An expected multipart form is not read here, but by `readForm` (forms.ts).
 * - Any other body is rejected at its first byte: with a 415, or with a 400 if the operation takes no body. An empty body
 *   counts as no body.
 *
 * The parser does not throw the error of a refused body, but returns it, and `parsedBody` throws it later. If the parser
 * threw it, Fastify would close the connection while the client is still sending, and the client could lose the response.
 * The rest of a refused body is read and discarded (drained).
 */

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** Matches the beginning of a valid Content-Type: a media type (RFC 9110 section 8.3.1), before its parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

const MAX_JSON_BYTES = 64 * 1024;

/** The limits within which a body is drained after its response was sent. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const MAX_DRAIN_MS = 30_000;
const DRAIN_CHECK_INTERVAL_MS = 100;

export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  /** A multipart form that has not been read yet. */
  | { kind: 'form' }
  /** An invalid body, which is reported in one 400 together with the other problems of the request. */
  | { kind: 'invalid'; reason: Reason };

/** What the parser returns. `refused`: the response is a 413 or 415. */
type ParserResult = RequestBody | { kind: 'refused'; error: HttpError };

const NO_BODY: RequestBody = { kind: 'none' };

/** Replaces Fastify's body parsers, for all methods and media types. */
export function registerBodyParser(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  for (const method of ['GET', 'HEAD']) server.addHttpMethod(method, { hasBody: true, overrideExisting: true });
  // `*` would suffice, but fastify-openapi-glue warns about every media type of the contract that is not listed here.
  const types = ['*', JSON_TYPE, FORM_TYPE, ...imageTypes.map(({ mediaType }) => mediaType)];
  server.addContentTypeParser(types, async (request: FastifyRequest, payload: Readable) =>
    readBody(payload, request.mediaType, request.routeOptions.config.operation),
  );
  server.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const type = headers['content-type'];
    // Fastify would respond to a malformed media type with a 415 of its own. Instead, a malformed type counts as
    // application/octet-stream, as a missing one does (RFC 9110 section 8.3).
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
    done();
  });
}

/**
 * Returns the parsed body of a request. If the request has no body, no parser has run and `request.body` is undefined.
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
  // Does not wait for the body. Otherwise a client that announces a body but never sends it would keep the connection in use.
  if (!operation) {
    payload.resume();
    return NO_BODY;
  }
  const expected = operation.body?.mediaType;
  if (mediaType === FORM_TYPE && expected === FORM_TYPE) return { kind: 'form' };
  const isExpectedJson = mediaType === JSON_TYPE && (expected ?? JSON_TYPE) === JSON_TYPE;
  const received = new ByteCollector();
  let size = 0;
  try {
    // Leaving the loop must not destroy the stream and with it the connection, which is needed for the response.
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > 0 && !isExpectedJson) return unexpectedBody(expected);
      if (size > MAX_JSON_BYTES)
        return expected ? { kind: 'refused', error: bodyTooLarge() } : unexpectedBody(expected);
      received.add(chunk);
    }
  } catch {
    return { kind: 'invalid', reason: reason('incomplete_body') };
  } finally {
    payload.resume();
  }
  return size === 0 ? NO_BODY : parseJson(received.bytes());
}

function unexpectedBody(expected: string | undefined): ParserResult {
  if (expected) return { kind: 'refused', error: unsupportedMediaType(expected) };
  return { kind: 'invalid', reason: reason('unexpected_body') };
}

function parseJson(bytes: Uint8Array): RequestBody {
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) };
  } catch {
    return { kind: 'invalid', reason: reason('malformed_json') };
  }
}

/**
 * Limits the draining of a body that is still arriving after its response was sent. The rest of the body is read and discarded,
 * because a client that is disconnected while it is sending may never read the response. If the body exceeds the limits, the
 * connection is destroyed.
 */
export function limitDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const startedAt = performance.now();
  const exceedsSmallChunks = countSmallChunks();
  request.on('data', (chunk: Buffer) => {
    if (exceedsSmallChunks(chunk)) socket.destroy();
  });
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MAX_DRAINED_BYTES || performance.now() - startedAt > MAX_DRAIN_MS)
      socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, DRAIN_CHECK_INTERVAL_MS).unref();
}
