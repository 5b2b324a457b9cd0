import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { badBody, bodyTooLarge } from './errors.js';

/*
 * A streaming multipart/form-data parser (RFC 7578) on top of Dicer, busboy's low-level parser. Parts are yielded as they
 * arrive. A body that is malformed, incomplete or too large ends both the iteration and the bytes of the current part with an
 * HttpError. Leaving the loop early drains the rest of the body, so that the connection can still carry the response.
 */

const badForm = (message: string) => badBody('malformed_form', message);

/** One part of a body. Properties that its headers do not contain are undefined. */
export interface Part {
  name: string;
  fileName: string | undefined;
  mediaType: string | undefined;
  charset: string | undefined;
  transferEncoding: string | undefined;
  /** Must be read to the end: only then does the next part arrive. */
  bytes: Readable;
}

const MAX_PARTS = 100;
const MAX_NAME_LENGTH = 200;
const MAX_BOUNDARY_LENGTH = 70; // RFC 2046 section 5.1.1

/**
 * Iterates over the parts of a request's body.
 *
 * @throws HttpError 400, 413
 */
export function readParts(request: IncomingMessage, maxBytes: number): AsyncIterable<Part> {
  // Nothing has been read yet, so Node drains the body.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  const boundary = boundaryOf(request);
  // An empty body needs no boundary, so a missing one is reported at the first byte.
  const parser = new Dicer({ boundary: boundary ?? '-' });
  let received = 0;
  let startedParts = 0;
  let partsWithHeaders = 0;
  let current: Readable | undefined;

  const parts = new Readable({
    objectMode: true,
    read() {},
    destroy(error, done) {
      request.unpipe(parser);
      request.resume();
      if (error) current?.destroy(error);
      done(error);
    },
  });
  const fail = (error: Error) => void parts.destroy(error);

  parser.on('part', (bytes) => {
    current = bytes;
    // An error that occurs before the part is read must not be an unhandled 'error' event.
    bytes.on('error', () => {});
    if (++startedParts > MAX_PARTS) return fail(badForm(`must have at most ${MAX_PARTS} parts`));
    bytes.once('header', (headers) => {
      partsWithHeaders++;
      const part = createPart(headers as PartHeaders, bytes);
      if (part) parts.push(part);
      else fail(badForm('must have a Content-Disposition of form-data with a name in every part'));
    });
  });
  parser.on('finish', () => {
    if (partsWithHeaders < startedParts) fail(badForm('must have complete headers in every part'));
    else parts.push(null);
  });
  parser.on('error', () => {
    // An empty body is an empty form.
    if (received === 0) parts.push(null);
    else fail(badForm('must end with its closing boundary'));
  });

  const failIncomplete = () => fail(badBody('incomplete_body'));
  request.on('close', () => {
    if (!request.readableEnded) failIncomplete();
  });
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (boundary === undefined) fail(badForm('must have a Content-Type that names its boundary'));
    if (received > maxBytes) fail(bodyTooLarge());
  });
  if (request.destroyed) failIncomplete();
  else request.pipe(parser);
  return parts;
}

function boundaryOf({ headers }: IncomingMessage): string | undefined {
  const boundary = parseHeader(headers['content-type'] ?? '').parameters.get('boundary');
  return boundary && boundary.length <= MAX_BOUNDARY_LENGTH ? boundary : undefined;
}

type PartHeaders = Readonly<Record<string, string[] | undefined>>;

/** Creates a part from its headers. Returns undefined if they do not name a form field. */
function createPart(headers: PartHeaders, bytes: Readable): Part | undefined {
  const disposition = parseHeader(headers['content-disposition']?.[0] ?? '');
  const name = disposition.parameters.get('name');
  if (disposition.value !== 'form-data' || !name || name.length > MAX_NAME_LENGTH) return undefined;
  const type = parseHeader(headers['content-type']?.[0] ?? '');
  return {
    // The parser decodes headers as Latin-1; browsers encode names in UTF-8.
    name: Buffer.from(name, 'latin1').toString(),
    fileName: disposition.parameters.get('filename') ?? disposition.parameters.get('filename*'),
    mediaType: type.value || undefined,
    charset: type.parameters.get('charset')?.toLowerCase(),
    transferEncoding: headers['content-transfer-encoding']?.[0]?.trim().toLowerCase(),
    bytes,
  };
}

/** Parses a header value with parameters (RFC 9110 section 5.6.6). The value is lowercased. */
function parseHeader(header: string): { value: string; parameters: Map<string, string> } {
  const [value = ''] = header.split(';', 1);
  const parameters = new Map<string, string>();
  const parameter = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
  for (const [, name = '', quoted, token = ''] of header.matchAll(parameter)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token);
  }
  return { value: value.trim().toLowerCase(), parameters };
}
