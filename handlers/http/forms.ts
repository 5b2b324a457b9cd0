import { randomUUID } from 'node:crypto';
import { unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import { FIELD_MESSAGES } from '../error-codes.js';
import { type FieldProblem, fileTooLarge, type Reason, reason } from '../errors.js';
import type { FieldType, Upload } from '../operation.js';
import { ImageRefusedError } from '../policy/image-metadata/errors.js';
import { cleanImage } from '../policy/image-metadata/index.js';
import { canonicalMediaType, describeFileType, detectImageType, HEAD_BYTES } from '../policy/image-types.js';
import { type Part, readParts } from './multipart.js';
import { ByteCollector } from './small-chunks.js';

/*
 * Reads multipart forms. Parts are processed in the order in which they arrive. Text is read into memory. A file is written
 * to a temporary file in `uploadsDir`, so that memory use does not depend on the size of an upload.
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

/** The maximum size of a text. The longest field of the contract has 10,000 code points, which are at most 40,000 bytes. */
const MAX_FIELD_BYTES = 64 * 1024;

/** The maximum length of a media type that an error message quotes. Registered names are not longer (RFC 6838 section 4.2). */
const MAX_MEDIA_TYPE_LENGTH = 255;

const charsets = ['utf-8', 'utf8', 'us-ascii'];
const plainEncodings = ['7bit', '8bit', 'binary'];

/**
 * Reads a multipart form to its end. Call `discardForm` when its files are no longer needed.
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
  try {
    for await (const part of readParts(request.raw, options.maxBodyBytes)) {
      const { name } = part;
      const fieldType = Object.hasOwn(fieldTypes, name) ? fieldTypes[name] : undefined;
      const { value, refused } = await readPart(part, fieldType, seen.has(name), options);
      if (value !== undefined) form.fields[name] = value;
      const isReported = fieldType === undefined && seen.has(name);
      if (refused && !isReported) form.problems.push({ in: 'body', field: name, ...refused });
      // An empty file input does not count as a value: a file with the same name may follow.
      if (value !== undefined || refused) seen.add(name);
    }
    return form;
  } catch (error) {
    await discardForm(form);
    throw error;
  }
}

export async function discardForm(form: Form): Promise<void> {
  for (const value of Object.values(form.fields)) {
    if (typeof value !== 'string') await removeFile(value.path);
  }
}

/** Removes a file, which may be missing: the image store moves accepted files. Unlike `rm`, makes only one system call. */
async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Reads a part to its end. @param fieldType undefined if the contract does not declare the field */
async function readPart(
  part: Part,
  fieldType: FieldType | undefined,
  repeated: boolean,
  options: FormOptions,
): Promise<PartResult> {
  const refused = repeated && fieldType !== undefined ? reason('repeated') : headerProblem(part, fieldType);
  if (!refused) return fieldType === 'file' ? readImage(part, options) : readText(part);
  let size = 0;
  for await (const chunk of part.bytes) size += chunk.length;
  return fieldType === 'file' && isEmptyFileInput(part, size) ? {} : { refused };
}

/** Returns the reason to refuse a part because of its headers, if any. */
function headerProblem(part: Part, fieldType: FieldType | undefined): Reason | undefined {
  const isFile = part.fileName !== undefined;
  // Some clients declare a boolean as JSON. Its text is the same.
  const isJsonBoolean = fieldType === 'boolean' && part.mediaType === 'application/json';
  const isText = part.mediaType === undefined || part.mediaType === 'text/plain' || isJsonBoolean;
  // Refused before its value is kept in memory, because a form may have many unknown fields.
  if (fieldType === undefined) return reason('unknown_field');
  if (fieldType === 'file' && !isFile && isText) return reason('not_a_file');
  if (fieldType !== 'file' && isFile) return reason('not_text', 'must be text, not a file');
  if (fieldType !== 'file' && !isText) return reason('not_text');
  if (fieldType !== 'file' && part.charset !== undefined && !charsets.includes(part.charset))
    return reason('invalid_encoding');
  if (part.transferEncoding !== undefined && !plainEncodings.includes(part.transferEncoding)) {
    return reason('invalid_encoding', 'must be sent without a transfer encoding');
  }
  return undefined;
}

/** Returns whether a part is a file input without a selected file. Browsers send it as an empty file with an empty name. */
const isEmptyFileInput = (part: Part, size: number) => part.fileName === '' && size === 0;

async function readText(part: Part): Promise<PartResult> {
  const received = new ByteCollector();
  let size = 0;
  for await (const chunk of part.bytes) {
    size += chunk.length;
    if (size <= MAX_FIELD_BYTES) received.add(chunk);
  }
  if (size > MAX_FIELD_BYTES) return { refused: reason('too_long', `must have at most ${MAX_FIELD_BYTES} bytes`) };
  try {
    return { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(received.bytes()) };
  } catch {
    return { refused: reason('invalid_encoding') };
  }
}

/** Writes an image to a temporary file, validates it and, if `stripMetadata` is true, removes its metadata. */
async function readImage(part: Part, options: FormOptions): Promise<PartResult> {
  const path = join(options.uploadsDir, `${randomUUID()}.upload`);
  let accepted = false;
  try {
    const { size, head } = await spool(part.bytes, path, options);
    if (isEmptyFileInput(part, size)) return {};
    const mediaType = await acceptedMediaType(head, part.mediaType);
    const cleanedSize = await cleanImage({ path, size, mediaType }, options);
    accepted = true;
    return { value: { path, size: cleanedSize, mediaType } };
  } catch (cause) {
    if (cause instanceof ImageRefusedError) return { refused: reason(cause.fieldCode, cause.message) };
    // Errors of file system calls have a `syscall`. Any other unexpected error is a bug, and results in a 500.
    throw cause instanceof Error && 'syscall' in cause ? new StoreUnavailableError('images', { cause }) : cause;
  } finally {
    if (!accepted) await removeFile(path);
  }
}

/** The number of bytes of an upload between two checks of the free disk space. */
const SPACE_CHECK_INTERVAL_BYTES = 1024 * 1024;

/**
 * Writes chunks to a new file. Returns its size, and its first bytes, at most `HEAD_BYTES`.
 *
 * @throws HttpError 413 if the file becomes too large, 400 or 413 if the form fails
 * @throws StoreUnavailableError if the disk has too little free space
 */
async function spool(
  bytes: AsyncIterable<Buffer>,
  path: string,
  { maxFileBytes, hasFreeSpace }: FormOptions,
): Promise<{ size: number; head: Buffer }> {
  let size = 0;
  let nextSpaceCheckAt = 0;
  let head = Buffer.alloc(0);
  async function* checkedChunks(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      size += chunk.length;
      if (size > maxFileBytes) throw fileTooLarge();
      if (size > nextSpaceCheckAt) {
        if (!(await hasFreeSpace())) throw new StoreUnavailableError('images');
        nextSpaceCheckAt = size + SPACE_CHECK_INTERVAL_BYTES;
      }
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
      yield chunk;
    }
  }
  await writeFile(path, checkedChunks(), { flag: 'wx', mode: 0o600 });
  return { size, head };
}

/**
 * Returns the media type of an image, which its signature determines.
 *
 * @param head the first bytes of the image
 * @param declaredType the media type that the part declares, if any
 * @throws ImageRefusedError if the type is not accepted, or not the declared one
 */
async function acceptedMediaType(head: Buffer, declaredType: string | undefined): Promise<string> {
  const detected = detectImageType(head);
  if (!detected) {
    const actual = await describeFileType(head);
    throw new ImageRefusedError('unsupported_image', actual && `${FIELD_MESSAGES.unsupported_image}, not ${actual}`);
  }
  const { mediaType } = detected;
  // RFC 2046 section 4.5.1: application/octet-stream means an unknown type.
  const declared = declaredType === 'application/octet-stream' ? undefined : declaredType;
  if (declared !== undefined && canonicalMediaType(declared) !== mediaType) {
    const shown = declared.length > MAX_MEDIA_TYPE_LENGTH ? 'another type' : declared;
    throw new ImageRefusedError('image_type_mismatch', `is declared as ${shown}, but its bytes are ${mediaType}`);
  }
  return mediaType;
}
