import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { badBody, bodyTooLarge } from '../errors.js';
import { countSmallChunks } from './small-chunks.js';

/*
 * A streaming parser of multipart/form-data (RFC 7578), based on Dicer, the low-level parser of busboy. Parts are yielded
 * as they arrive.
 *
 * If the body is malformed, incomplete or too large, the iteration and the current part end with an HttpError. If the consumer
 * ends the iteration early, the rest of the body is drained, because the connection is still needed for the response.
 */

const badForm = (message: string) => badBody('malformed_form', message);

/** One part of a body. Properties are undefined if the headers of the part do not contain them. */
export interface Part {
  name: string;
  fileName: string | undefined;
  mediaType: string | undefined;
  charset: string | undefined;
  transferEncoding: string | undefined;
  /** The content. It must be read to the end before the next part is requested. */
  bytes: AsyncIterable<Buffer>;
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
  // Refused without reading the body, which is drained when the response is sent (see the hooks in server.ts).
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge();
  const boundary = boundaryOf(request);
  // A missing boundary is reported at the first byte, because an empty body needs no boundary.
  const parser = new Dicer({ boundary: boundary ?? '-' });
  let received = 0;
  const exceedsSmallChunks = countSmallChunks();
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

  /**
   * Yields the content of a part. If the body is incomplete, Dicer emits an error of its own on the part, which would become a
   * 500 or 503. The reader gets the HttpError of the iteration instead.
   */
  async function* bytesOf(part: Readable): AsyncGenerator<Buffer> {
    try {
      yield* part;
    } catch (error) {
      throw parts.errored ?? error;
    }
  }

  parser.on('part', (bytes) => {
    current = bytes;
    // Without a listener, an error that occurs before the part is read would be an unhandled 'error' event.
    bytes.on('error', () => {});
    // Node no longer calls `_read` on a part that has ended. But Dicer may wait for one more call before it continues: this
    // depends on how the body is split into chunks.
    bytes.once('end', () => bytes._read(0));
    if (++startedParts > MAX_PARTS) return fail(badForm(`must have at most ${MAX_PARTS} parts`));
    bytes.once('header', (headers) => {
      partsWithHeaders++;
      const part = createPart(headers as PartHeaders, bytesOf(bytes));
      if (part) parts.push(part);
      else
        fail(
          badForm(
            `must have a Content-Disposition of form-data with a name of at most ${MAX_NAME_LENGTH} bytes in every part`,
          ),
        );
    });
  });
  // Once, because Dicer repeats this event for each boundary that follows the closing one.
  parser.once('finish', () => {
    if (partsWithHeaders < startedParts) return fail(badForm('must have complete headers in every part'));
    if (request.readableEnded) return void parts.push(null);
    // Dicer finishes at the closing boundary. The bytes after it may still exceed the limit, or never arrive. They are read
    // and discarded, which `pipe` no longer does: it pauses the request after this event.
    request.once('end', () => parts.push(null));
    process.nextTick(() => request.resume());
  });
  parser.on('error', () => {
    // An empty body counts as an empty form.
    if (received === 0) parts.push(null);
    else fail(badForm('must end with its closing boundary'));
  });

  const failIncomplete = () => fail(badBody('incomplete_body'));
  request.on('close', () => {
    if (!request.readableEnded) failIncomplete();
  });
  request.on('data', (chunk: Buffer) => {
    if (parts.destroyed) return;
    received += chunk.length;
    if (boundary === undefined) fail(badForm('must have a Content-Type that names its boundary'));
    if (received > maxBytes) fail(bodyTooLarge());
    if (exceedsSmallChunks(chunk)) fail(badForm('must be sent in larger chunks'));
  });
  if (request.destroyed) failIncomplete();
  else request.pipe(parser);
  return parts;
}

/** Returns the boundary from the Content-Type, or undefined if it is missing or too long. */
function boundaryOf({ headers }: IncomingMessage): string | undefined {
  const boundary = parseHeader(headers['content-type'] ?? '').parameters.get('boundary');
  return boundary && boundary.length <= MAX_BOUNDARY_LENGTH ? boundary : undefined;
}

type PartHeaders = Readonly<Record<string, string[] | undefined>>;

/** Creates a part from its headers. Returns undefined if they contain no name of a form field, or one that is too long. */
function createPart(headers: PartHeaders, bytes: AsyncIterable<Buffer>): Part | undefined {
  const disposition = parseHeader(headers['content-disposition']?.[0] ?? '');
  const name = disposition.parameters.get('name');
  if (disposition.value !== 'form-data' || !name || name.length > MAX_NAME_LENGTH) return undefined;
  const type = parseHeader(headers['content-type']?.[0] ?? '');
  return {
    // Dicer decodes headers as Latin-1, but browsers encode names in UTF-8.
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
