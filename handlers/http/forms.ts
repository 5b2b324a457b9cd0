import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Multipart, MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyError, FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { badBody, type FieldProblem, fieldProblem, fileTooLarge, type Reason, reason } from '../errors.js';
import type { FieldType, Upload } from '../operation.js';
import { ImageRefusedError } from '../policy/image-metadata/errors.js';
import { cleanImage } from '../policy/image-metadata/index.js';
import { acceptedMediaType, HEAD_BYTES } from '../policy/image-types.js';
import { readBytes } from './body-bytes.js';

/*
 * Reads multipart forms (RFC 7578) with @fastify/multipart. Parts are processed in the order in which they arrive. Text is read
 * into memory. A file is written to a temporary file in `uploadsDir`, so that memory use does not depend on its size.
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

/** The result of reading a part: its value, or the reason why it is refused. An empty file input has neither. */
interface PartResult {
  value?: string | Upload;
  refused?: Reason;
}

const MAX_PARTS = 20;
const MAX_NAME_LENGTH = 200;
/** The maximum size of a text. The longest field of the contract has 10,000 code points, which are at most 40,000 bytes. */
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
const MAX_HEADERS = 20;
/** What the parser buffers of a file while the disk writes: a few large writes are faster than many small ones. */
const FILE_BUFFER_BYTES = 128 * 1024;

const JSON_TYPE = 'application/json';
const PLAIN_ENCODINGS = ['7bit', '8bit', 'binary'];

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
  const contentType = request.headers['content-type'] ?? '';
  const started = new PartCounter(contentType);
  let readableParts = 0;
  // The plugin limits the size of parts, but not that of the body. So the `raw` that it reads is the body within its limits. It
  // has no other headers, because the plugin logs them.
  const bytes = started.count(readBytes(request.raw, options.maxBodyBytes));
  const body = Object.assign(Readable.from(bytes, { objectMode: false }), { headers: { 'content-type': contentType } });
  const limited: FastifyRequest = Object.create(request, { raw: { value: body } });
  const parts = limited.parts({
    limits: {
      parts: MAX_PARTS,
      files: MAX_PARTS,
      fields: MAX_PARTS,
      fieldSize: MAX_FIELD_BYTES,
      fileSize: options.maxFileBytes,
      headerPairs: MAX_HEADERS,
      headerSize: MAX_HEADER_BYTES,
    },
    fileHwm: FILE_BUFFER_BYTES,
    isPartAFile(name = '', type = '', fileName) {
      readableParts += 1;
      // Collected here, because the plugin does not yield parts with names of Object.prototype.
      if (!Object.hasOwn(fieldTypes, name)) unknown.add(name);
      return fileName !== undefined || type !== 'text/plain';
    },
  });
  try {
    for await (const part of parts) {
      const name = part.fieldname;
      if (!name || name.length > MAX_NAME_LENGTH)
        throw badForm(`must have a name of at most ${MAX_NAME_LENGTH} characters in every part`);
      const fieldType = Object.hasOwn(fieldTypes, name) ? fieldTypes[name] : undefined;
      const { value, refused } = await readPart(part, fieldType, seen.has(name), options);
      if (value !== undefined) form.fields[name] = value;
      if (refused) form.problems.push({ in: 'body', field: name, ...refused });
      // An empty file input does not count as a value: a file with the same name may follow.
      if (value !== undefined || refused) seen.add(name);
    }
    // The parser skips a part whose headers it cannot read, and its value would be lost.
    if (readableParts < started.found)
      throw badForm('must have a Content-Disposition of form-data, and valid headers, in every part');
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

/** Counts the parts of a form by their delimiters (RFC 2046 section 5.1.1), while its bytes pass. */
class PartCounter {
  found = 0;
  readonly #delimiter: string;
  #isClosed = false;

  constructor(contentType: string) {
    const [, quoted, token = ''] = /boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? [];
    this.#delimiter = `\r\n--${quoted ?? token}`;
  }

  async *count(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { length } = this.#delimiter;
    // The first delimiter may be at the beginning of the body.
    let rest = '\r\n';
    for await (const piece of bytes) {
      rest += piece.toString('latin1');
      let at = rest.indexOf(this.#delimiter);
      // Two more bytes tell whether the delimiter is the closing one, which ends with `--`.
      while (at >= 0 && at + length + 2 <= rest.length && !this.#isClosed) {
        if (rest.startsWith('--', at + length)) this.#isClosed = true;
        else this.found += 1;
        rest = rest.slice(at + length);
        at = rest.indexOf(this.#delimiter);
      }
      rest = rest.slice(-(length + 1));
      yield piece;
    }
  }
}

const badForm = (message: string) => badBody('malformed_form', message);

/** The errors of busboy, the parser of the plugin. They have no code. */
const PARSER_ERROR = /multipart data$|^Multipart: Boundary not found$|^The needle/;

/** Converts an error of the plugin to one of the contract. Returns any other error unchanged. */
function formError(error: Partial<FastifyError>): unknown {
  if (/^FST_(PARTS|FILES|FIELDS)_LIMIT$/.test(error.code ?? '')) return badForm(`must have at most ${MAX_PARTS} parts`);
  if (!PARSER_ERROR.test(error.message ?? '')) return error;
  return badForm('must have a Content-Type that names its boundary, and end with its closing boundary');
}

export async function discardForm(form: Form): Promise<void> {
  for (const value of Object.values(form.fields)) {
    // The image store moves accepted files, so they may be missing.
    if (typeof value !== 'string') await rm(value.path, { force: true });
  }
}

/** Reads a part to its end. @param fieldType undefined if the contract does not declare the field */
async function readPart(
  part: Multipart,
  fieldType: FieldType | undefined,
  repeated: boolean,
  options: FormOptions,
): Promise<PartResult> {
  const refused = fieldType && (repeated ? reason('repeated') : problemOf(part, fieldType));
  if (part.type === 'file' && fieldType === 'file' && !refused) return readImage(part, options);
  if (part.type === 'file' && isJsonBoolean(part, fieldType) && !refused)
    return { value: (await part.toBuffer()).toString() };
  if (part.type === 'file') await finished(part.file.resume());
  if (fieldType === undefined || (fieldType === 'file' && isEmptyFileInput(part))) return {};
  return refused ? { refused } : { value: String((part as MultipartValue).value) };
}

/** Returns whether a part is a boolean that is declared as JSON, as some clients do. To the plugin, it is a file. */
const isJsonBoolean = (part: Multipart, fieldType: FieldType | undefined) =>
  fieldType === 'boolean' && part.type === 'file' && part.filename === undefined && part.mimetype === JSON_TYPE;

/** Returns the reason to refuse a part without reading its file, if any. */
function problemOf(part: Multipart, fieldType: FieldType): Reason | undefined {
  if (!PLAIN_ENCODINGS.includes(part.encoding.trim()))
    return reason('invalid_encoding', 'must be sent without a transfer encoding');
  if (fieldType === 'file') return part.type === 'file' ? undefined : reason('not_a_file');
  if (isJsonBoolean(part, fieldType)) return undefined;
  if (part.type === 'file')
    return part.filename === undefined ? reason('not_text') : reason('not_text', 'must be text, not a file');
  if (part.valueTruncated) return reason('too_long', `must have at most ${MAX_FIELD_BYTES} bytes`);
  // busboy has replaced invalid bytes by this character. It does not tell whether they were valid.
  if (String(part.value).includes('\ufffd')) return reason('invalid_encoding', 'must be UTF-8 text without U+FFFD');
  return undefined;
}

/** Returns whether a part is a file input without a selected file. Browsers send it as an empty file with an empty name. */
const isEmptyFileInput = (part: Multipart) => part.type === 'file' && part.filename === '' && part.file.bytesRead === 0;

/** Writes an image to a temporary file, validates it and, if `stripMetadata` is true, removes its metadata. */
async function readImage(part: MultipartFile, options: FormOptions): Promise<PartResult> {
  const path = join(options.uploadsDir, `${randomUUID()}.upload`);
  let accepted = false;
  try {
    const head = await spool(part.file, path, options);
    if (isEmptyFileInput(part)) return {};
    const mediaType = await acceptedMediaType(head, part.mimetype);
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
