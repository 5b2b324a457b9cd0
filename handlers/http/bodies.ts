import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../operation.js';
import { imageTypes } from '../policy/image-types.js';
import { bodyTooLarge, type HttpError, type Reason, reason, unsupportedMediaType } from './errors.js';

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

/** The limits of the draining of a body after its response. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const MAX_DRAIN_MS = 30_000;
const DRAIN_CHECK_INTERVAL_MS = 100;

/** The body of a request. */
export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  /** A multipart form, not yet read. */
  | { kind: 'form' }
  /** Reported together with the other problems of the request, in one 400. */
  | { kind: 'invalid'; reason: Reason };

/** `refused` stands for a 413 or 415. */
type ParserResult = RequestBody | { kind: 'refused'; error: HttpError };

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
      if (size > MAX_JSON_BYTES && expected) return { kind: 'refused', error: bodyTooLarge() };
      if (size > MAX_JSON_BYTES) return unexpectedBody(undefined);
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'invalid', reason: reason('incomplete_body') };
  } finally {
    payload.resume();
  }
  return size === 0 ? NO_BODY : parseJson(Buffer.concat(chunks));
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
 * Limits the draining of a body that is still arriving after the response. The rest of the body is read and discarded, since a
 * client that is disconnected while it sends may never see the response. Beyond the limit the connection is destroyed.
 */
export function limitDrain(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  const startedAt = Date.now();
  const timer = setInterval(() => {
    if (socket.bytesRead - bytesBefore > MAX_DRAINED_BYTES || Date.now() - startedAt > MAX_DRAIN_MS) socket.destroy();
    if (request.complete || socket.destroyed) clearInterval(timer);
  }, DRAIN_CHECK_INTERVAL_MS).unref();
}
