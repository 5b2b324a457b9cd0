import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { badBody, payloadTooLarge } from './errors.js';

/** One part of a multipart/form-data body (RFC 7578). What its headers do not say is undefined. */
export interface Part {
  name: string;
  fileName: string | undefined;
  mediaType: string | undefined;
  charset: string | undefined;
  transferEncoding: string | undefined;
  /** Has to be read to its end, or the next part never comes. */
  bytes: Readable;
}

const MAX_PARTS = 100;
const MAX_NAME_LENGTH = 200;
const MAX_BOUNDARY_LENGTH = 70; // RFC 2046 section 5.1.1

/**
 * The parts of a request's body as they arrive. A body that is malformed, cut short or larger than `maxBytes` ends the
 * iteration, and the bytes of the part being read, with an `HttpError`. Leaving the loop early lets the rest of the body
 * run off, so that the connection can carry the answer.
 */
export function readParts(request: IncomingMessage, maxBytes: number): AsyncIterable<Part> {
  // Nothing is read yet, so Node itself lets the body run off.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw payloadTooLarge();
  const boundary = boundaryOf(request);
  // Zero bytes are no body, and need no boundary either.
  const parser = new Dicer({ boundary: boundary ?? '-' });
  let received = 0;
  let started = 0;
  let headed = 0;
  let latest: Readable | undefined;

  const parts = new Readable({
    objectMode: true,
    read() {},
    destroy(error, done) {
      request.unpipe(parser);
      request.resume();
      if (error) latest?.destroy(error);
      done(error);
    },
  });
  const fail = (error: Error) => void parts.destroy(error);

  parser.on('part', (bytes) => {
    latest = bytes;
    // A failure reaches whoever reads the part; nobody may be reading it yet.
    bytes.on('error', () => {});
    if (++started > MAX_PARTS) return fail(badBody('The form has too many parts.'));
    bytes.once('header', (headers) => {
      headed++;
      const part = describe(headers as PartHeaders, bytes);
      if (part) parts.push(part);
      else fail(badBody('Every part must have a Content-Disposition of form-data with a name.'));
    });
  });
  parser.on('finish', () => {
    if (headed < started) fail(badBody('A part of the form has no complete headers.'));
    else parts.push(null);
  });
  parser.on('error', () => {
    // Zero bytes are no body, and so an empty form.
    if (received === 0) parts.push(null);
    else fail(badBody('The multipart body ends before its closing boundary.'));
  });

  const cutOff = () => fail(badBody('The connection was closed before the whole body had arrived.'));
  request.on('close', () => {
    if (!request.readableEnded) cutOff();
  });
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (boundary === undefined) fail(badBody('The Content-Type of a multipart body must name its boundary.'));
    if (received > maxBytes) fail(payloadTooLarge());
  });
  if (request.destroyed) cutOff();
  else request.pipe(parser);
  return parts;
}

function boundaryOf({ headers }: IncomingMessage): string | undefined {
  const boundary = parseHeader(headers['content-type'] ?? '').parameters.get('boundary');
  return boundary && boundary.length <= MAX_BOUNDARY_LENGTH ? boundary : undefined;
}

type PartHeaders = Readonly<Record<string, string[] | undefined>>;

/** The part that these headers speak of, unless they do not name a form field. */
function describe(headers: PartHeaders, bytes: Readable): Part | undefined {
  const disposition = parseHeader(headers['content-disposition']?.[0] ?? '');
  const name = disposition.parameters.get('name');
  if (disposition.value !== 'form-data' || !name || name.length > MAX_NAME_LENGTH) return undefined;
  const type = parseHeader(headers['content-type']?.[0] ?? '');
  return {
    // The parser hands headers over byte by byte; browsers write names in UTF-8.
    name: Buffer.from(name, 'latin1').toString(),
    fileName: disposition.parameters.get('filename') ?? disposition.parameters.get('filename*'),
    mediaType: type.value || undefined,
    charset: type.parameters.get('charset')?.toLowerCase(),
    transferEncoding: headers['content-transfer-encoding']?.[0]?.trim().toLowerCase(),
    bytes,
  };
}

/** RFC 9110 section 5.6.6: a value, lowercased, and its parameters, quoted or not. */
function parseHeader(header: string): { value: string; parameters: Map<string, string> } {
  const [value = ''] = header.split(';', 1);
  const parameters = new Map<string, string>();
  const parameter = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
  for (const [, name = '', quoted, token = ''] of header.matchAll(parameter)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token);
  }
  return { value: value.trim().toLowerCase(), parameters };
}
