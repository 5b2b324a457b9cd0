import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyError, FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { type FieldProblem, fieldProblem, fileTooLarge, type Reason, reason } from '../errors.js';
import type { FieldType, Upload } from '../operation.js';
import { ImageRefusedError } from '../policy/image-metadata/errors.js';
import { cleanImage } from '../policy/image-metadata/index.js';
import { acceptedMediaType, HEAD_BYTES } from '../policy/image-types.js';
import { readBytes } from './body-bytes.js';
import {
  badForm,
  badPart,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_NAME_LENGTH,
  parameterOf,
  readHeads,
} from './part-heads.js';

/*
 * Reads multipart forms (RFC 7578) with @fastify/multipart. Parts are processed in the order in which they arrive. Text is read
 * into memory. A file is written to a temporary file in `uploadsDir`, so that memory use does not depend on its size.
 *
 * The plugin tells neither whether a part has a `Content-Type`, nor that it skipped a part, and decodes a charset that it does not
 * know as another. So it passes every part as bytes, as a file, and `readHeads` reads the heads of the same parts.
 *
 * The names of fields are checked here, but text values are neither converted nor validated. The schema validates them later.
 *
 * A part with a problem is read to its end and discarded, so that one response can report the problems of all parts. If the
 * form as a whole fails (it is malformed, it or a file is too large, or the disk is full), all temporary files are removed.
 */

export interface Form {
  /** The values of the accepted parts, by name. A repeated field has its first value here, and a problem in `problems`. */
  fields: Record<string, string | Upload>;
  problems: FieldProblem[];
}

export interface FormOptions {
  maxFileBytes: number;
  maxBodyBytes: number;
  uploadsDir: string;
  /** Returns whether the disk has enough free space for the upload to continue. */
  hasFreeSpace(): Promise<boolean>;
  stripMetadata: boolean;
}

/** A part as the plugin yields it, with its Content-Type, if it has one. */
type Part = MultipartFile & { contentType: string | undefined };

/** The result of reading a part: its value, or the reason why it is refused. An empty file input has neither. */
interface PartResult {
  value?: string | Upload;
  refused?: Reason;
}

const MAX_PARTS = 20;
/** The maximum size of a text. The longest field of the contract has 10,000 code points, which are at most 40,000 bytes. */
const MAX_FIELD_BYTES = 64 * 1024;
/** What the parser buffers of a file while the disk writes: a few large writes are faster than many small ones. */
const FILE_BUFFER_BYTES = 128 * 1024;

const TEXT_TYPE = 'text/plain';
const JSON_TYPE = 'application/json';
const OPEN_TYPE = 'application/octet-stream';
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

/** The charsets that a text may declare, and the encoding with which it is decoded. */
const ENCODINGS: ReadonlyMap<string, BufferEncoding> = new Map([
  ...['utf-8', 'utf8', 'us-ascii', 'ascii'].map((charset) => [charset, 'utf8'] as const),
  ...['iso-8859-1', 'latin1'].map((charset) => [charset, 'latin1'] as const),
  ['utf-16le', 'utf16le'],
]);
/** Matches a boundary of at most 70 characters (RFC 2046 section 5.1.1), also with others than the standard allows. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/;

/**
 * Reads a multipart form. Call `discardForm` when its files are no longer needed.
 *
 * @param fieldTypes the types of the fields that the contract declares, by name
 * @throws HttpError 400, 413
 * @throws StoreUnavailableError if the disk is full or fails
 */
export async function readForm(
  request: FastifyRequest,
  fieldTypes: Readonly<Record<string, FieldType>>,
  options: FormOptions,
): Promise<Form> {
  const form: Form = { fields: Object.create(null), problems: [] };
  const seen = new Set<string>();
  const unknown = new Set<string>();
  const boundary = parameterOf(request.headers['content-type'] ?? '', 'boundary') ?? '';
  /** The Content-Type of each part, until the parser has read its head. */
  const unread: (string | undefined)[] = [];
  /** The Content-Type of each part of a known field, until the part is read. */
  const contentTypes: (string | undefined)[] = [];
  // The plugin limits the size of parts, but not that of the body. So the `raw` that it reads is the body within its limits. Its
  // only header names the boundary as it was read here. The plugin logs headers.
  const bytes = readHeads(readBytes(request.raw, options.maxBodyBytes), boundary, unread);
  const headers = { 'content-type': `multipart/form-data${BOUNDARY.test(boundary) ? `; boundary="${boundary}"` : ''}` };
  const body = Object.assign(Readable.from(bytes, { objectMode: false }), { headers });
  const limited: FastifyRequest = Object.create(request, { raw: { value: body } });
  const parts = limited.parts({
    limits: {
      parts: MAX_PARTS,
      files: MAX_PARTS,
      fileSize: Math.max(options.maxFileBytes, MAX_FIELD_BYTES + 1),
      headerPairs: MAX_HEADERS,
      headerSize: MAX_HEADER_BYTES,
    },
    fileHwm: FILE_BUFFER_BYTES,
    isPartAFile(name = '') {
      const contentType = unread.shift();
      // Collected here, because the plugin does not yield parts with names of Object.prototype.
      if (Object.hasOwn(fieldTypes, name)) contentTypes.push(contentType);
      else unknown.add(name);
      return true;
    },
  }) as AsyncIterable<MultipartFile>;
  try {
    for await (const file of parts) {
      const name = file.fieldname;
      if (!name || name.length > MAX_NAME_LENGTH) throw badPart();
      const fieldType = Object.hasOwn(fieldTypes, name) ? fieldTypes[name] : undefined;
      const part = Object.assign(file, { contentType: fieldType && contentTypes.shift() });
      const { value, refused } = await readPart(part, fieldType, seen.has(name), options);
      if (value !== undefined) form.fields[name] = value;
      if (refused) form.problems.push({ in: 'body', field: name, ...refused });
      // An empty file input does not count as a value: a file with the same name may follow.
      if (value !== undefined || refused) seen.add(name);
    }
    // The parser skips a part whose headers it cannot read, and its value would be lost.
    if (unread.length > 0) throw badPart();
  } catch (error) {
    // Thrown at the end of a form with a name of Object.prototype, which `unknown` contains.
    if ((error as Partial<FastifyError>).code !== 'FST_PROTO_VIOLATION') {
      await discardForm(form);
      throw formError(error as Error);
    }
  } finally {
    body.destroy();
  }
  for (const name of unknown) form.problems.push(fieldProblem('body', name, 'unknown_field'));
  return form;
}

/** The errors of busboy, the parser of the plugin. They have no code. */
const PARSER_ERROR = /multipart data$|^Multipart: Boundary not found$/;

/** Converts an error of the plugin to one of the contract. Returns any other error unchanged. */
function formError(error: Partial<FastifyError>): unknown {
  if (error.code === 'FST_PARTS_LIMIT') return badForm(`must have at most ${MAX_PARTS} parts`);
  if (!PARSER_ERROR.test(error.message ?? '')) return error;
  return badForm('must have a Content-Type with a boundary of at most 70 characters, and end with that boundary');
}

export async function discardForm(form: Form): Promise<void> {
  for (const value of Object.values(form.fields)) {
    // The image store moves accepted files, so they may be missing.
    if (typeof value !== 'string') await rm(value.path, { force: true });
  }
}

/** Reads a part to its end. @param fieldType undefined if the contract does not declare the field */
async function readPart(
  part: Part,
  fieldType: FieldType | undefined,
  repeated: boolean,
  options: FormOptions,
): Promise<PartResult> {
  const refused = fieldType && (repeated ? reason('repeated') : problemOf(part, fieldType));
  if (fieldType && !refused) return fieldType === 'file' ? readImage(part, options) : readText(part);
  await finished(part.file.resume());
  return refused && !(fieldType === 'file' && isEmptyFileInput(part)) ? { refused } : {};
}

/** Returns the reason to refuse a part without reading it, if any. */
function problemOf({ encoding, filename, mimetype }: Part, fieldType: FieldType): Reason | undefined {
  if (!PLAIN_ENCODINGS.includes(encoding.trim()))
    return reason('invalid_encoding', 'must be sent without a transfer encoding');
  const isText = filename === undefined && mimetype === TEXT_TYPE;
  if (fieldType === 'file') return isText ? reason('not_a_file') : undefined;
  if (filename !== undefined) return reason('not_text', 'must be text, not a file');
  // Some clients declare a boolean as JSON.
  return isText || (fieldType === 'boolean' && mimetype === JSON_TYPE) ? undefined : reason('not_text');
}

/** Reads and decodes a text. */
async function readText({ file, contentType }: Part): Promise<PartResult> {
  // Collected as a string, because small chunks take much more memory than their bytes.
  let latin1 = '';
  for await (const chunk of file) if (file.bytesRead <= MAX_FIELD_BYTES) latin1 += chunk.toString('latin1');
  if (file.bytesRead > MAX_FIELD_BYTES)
    return { refused: reason('too_long', `must have at most ${MAX_FIELD_BYTES} bytes`) };
  const charset = (contentType && parameterOf(contentType, 'charset')) ?? 'utf-8';
  const encoding = ENCODINGS.get(charset.toLowerCase());
  if (!encoding) {
    // The names of charsets have at most 40 characters (RFC 2978 section 2.3).
    const shown = /^[\w.:+-]{1,40}$/.test(charset) ? charset : 'another charset';
    return { refused: reason('invalid_encoding', `must be text in UTF-8, ISO-8859-1 or UTF-16LE, not ${shown}`) };
  }
  const bytes = Buffer.from(latin1, 'latin1');
  const value = bytes.toString(encoding);
  // Invalid bytes were replaced.
  return bytes.equals(Buffer.from(value, encoding)) ? { value } : { refused: reason('invalid_encoding') };
}

/**
 * Returns whether a part is a file input without a selected file. Browsers send it as an empty file with an empty name, and
 * Node's `fetch` without a name.
 */
const isEmptyFileInput = ({ file, filename, mimetype }: Part) =>
  file.bytesRead === 0 && (filename === '' || (filename === undefined && mimetype === OPEN_TYPE));

/** Writes an image to a temporary file, validates it and, if `stripMetadata` is true, removes its metadata. */
async function readImage(part: Part, options: FormOptions): Promise<PartResult> {
  const path = join(options.uploadsDir, `${randomUUID()}.upload`);
  let accepted = false;
  try {
    const head = await spool(part.file, path, options);
    if (isEmptyFileInput(part)) return {};
    // Some clients declare no type. RFC 7578 then defines it as text/plain, which no image is.
    const mediaType = await acceptedMediaType(head, part.contentType ? part.mimetype : OPEN_TYPE);
    const size = await cleanImage({ path, size: part.file.bytesRead, mediaType }, options);
    accepted = true;
    return { value: { path, size, mediaType } };
  } catch (cause) {
    if (cause instanceof ImageRefusedError) return { refused: reason(cause.fieldCode, cause.message) };
    // Errors of file system calls have a `syscall`. Any other unexpected error is a bug, and results in a 500.
    throw cause instanceof Error && 'syscall' in cause ? new StoreUnavailableError('images', { cause }) : cause;
  } finally {
    if (!accepted) await rm(path, { force: true });
  }
}

/** The number of bytes of an upload between two checks of the free disk space. */
const SPACE_CHECK_INTERVAL_BYTES = 1024 * 1024;

/**
 * Writes a file of a form to the disk. Returns its first bytes, at most `HEAD_BYTES`.
 *
 * @throws HttpError 413 if the file becomes too large, 400 or 413 if the form fails
 * @throws StoreUnavailableError if the disk has too little free space
 */
async function spool(
  file: MultipartFile['file'],
  path: string,
  { maxFileBytes, hasFreeSpace }: FormOptions,
): Promise<Buffer> {
  const refuse = () => file.destroy(fileTooLarge(maxFileBytes));
  if (file.truncated) refuse();
  file.once('limit', refuse);
  let nextSpaceCheckAt = 0;
  let head = Buffer.alloc(0);
  async function* checkedChunks(): AsyncGenerator<Buffer> {
    for await (const chunk of file) {
      if (file.bytesRead > maxFileBytes) throw fileTooLarge(maxFileBytes);
      if (file.bytesRead > nextSpaceCheckAt) {
        if (!(await hasFreeSpace())) throw new StoreUnavailableError('images');
        nextSpaceCheckAt = file.bytesRead + SPACE_CHECK_INTERVAL_BYTES;
      }
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
      yield chunk;
    }
  }
  await writeFile(path, checkedChunks(), { flag: 'wx', mode: 0o600 });
  return head;
}
