import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { StoreUnavailableError } from '../../db/support/errors.js';
import type { Kind } from '../../generated/routes.js';
import type { Upload } from '../../generated/types.js';
import { describeFileType } from '../policy/file-types.js';
import { cleanImage, ImageRefusedError } from '../policy/image-metadata/index.js';
import { canonicalMediaType, detectImageType, HEAD_BYTES } from '../policy/image-types.js';
import { HttpError, type Problem, payloadTooLarge } from './errors.js';
import { type Part, readParts } from './multipart.js';

export interface Form {
  /** Has no prototype: a field may have any name. Fields with a problem of their own are left out. */
  fields: Record<string, string | Upload>;
  problems: Problem[];
}

export interface FormLimits {
  fileBytes: number;
  bodyBytes: number;
  spoolDir: string;
  /** Whether the disk has room for more. */
  hasRoom(): Promise<boolean>;
  stripMetadata: boolean;
}

/** What a part comes to: a value, or what is wrong with it, or nothing at all. */
interface Outcome {
  value?: string | Upload;
  message?: string;
}

interface ImageOutcome extends Outcome {
  value?: Upload;
}

// The longest documented field is 10,000 code points, at most 40,000 bytes.
const FIELD_BYTES = 64 * 1024;

/** The longest media type that a message repeats: no name of one is longer (RFC 6838 section 4.2). */
const MAX_MEDIA_TYPE_LENGTH = 255;

const charsets = ['utf-8', 'utf8', 'us-ascii'];
const plainEncodings = ['7bit', '8bit', 'binary'];

/**
 * Reads a whole multipart form; files go to `spoolDir` as they arrive. Values stay text, and undeclared text fields are
 * kept, for the schema to judge. A throw leaves no file behind; else the user discards the form when done with it.
 */
export async function readForm(
  request: FastifyRequest,
  kinds: Readonly<Record<string, Kind>>,
  limits: FormLimits,
): Promise<Form> {
  const form: Form = { fields: Object.create(null), problems: [] };
  const seen = new Set<string>();
  try {
    for await (const part of readParts(request.raw, limits.bodyBytes)) {
      const { name } = part;
      const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
      const { value, message } = await readPart(part, kind, seen.has(name), limits);
      if (value !== undefined) form.fields[name] = value;
      if (message !== undefined) form.problems.push({ in: 'body', field: name, message });
      if (value !== undefined || message !== undefined) seen.add(name);
    }
    return form;
  } catch (error) {
    await discardForm(form);
    throw error;
  }
}

/** Removes the form's temporary files that are still there. */
export async function discardForm(form: Form): Promise<void> {
  for (const value of Object.values(form.fields)) {
    if (typeof value !== 'string') await rm(value.path, { force: true });
  }
}

async function readPart(part: Part, kind: Kind | undefined, repeated: boolean, limits: FormLimits): Promise<Outcome> {
  const message = repeated ? 'must not be repeated' : headerProblem(part, kind);
  if (message === undefined) return kind === 'file' ? readImage(part, limits) : readText(part);
  let size = 0;
  for await (const chunk of part.bytes) size += chunk.length;
  return kind === 'file' && isNoFile(part, size) ? {} : { message };
}

/** What is wrong with a part before its bytes are looked at. */
function headerProblem(part: Part, kind: Kind | undefined): string | undefined {
  const isFile = part.fileName !== undefined;
  // In JSON, which is how some clients send a boolean, it is the same text.
  const isJsonBoolean = kind === 'boolean' && part.mediaType === 'application/json';
  const isText = part.mediaType === undefined || part.mediaType === 'text/plain' || isJsonBoolean;
  // The schema names undeclared text; a name such as __proto__ is not handed on.
  if (kind === undefined && (isFile || !isText || part.name in Object.prototype)) return 'is not known';
  if (kind === 'file' && !isFile && isText) return 'must be a file';
  if (kind !== 'file' && isFile) return 'must be text, not a file';
  if (kind !== 'file' && !isText) return 'must be plain text';
  if (kind !== 'file' && part.charset !== undefined && !charsets.includes(part.charset)) return 'must be UTF-8 text';
  if (part.transferEncoding !== undefined && !plainEncodings.includes(part.transferEncoding)) {
    return 'must be sent without a transfer encoding';
  }
  return undefined;
}

/** What a browser sends for a file input in which nothing was chosen. */
const isNoFile = (part: Part, size: number) => part.fileName === '' && size === 0;

async function readText(part: Part): Promise<Outcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part.bytes) {
    size += chunk.length;
    if (size <= FIELD_BYTES) chunks.push(chunk);
  }
  if (size > FIELD_BYTES) return { message: 'is too long' };
  try {
    return { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { message: 'must be UTF-8 text' };
  }
}

async function readImage(part: Part, limits: FormLimits): Promise<Outcome> {
  const path = join(limits.spoolDir, `${randomUUID()}.upload`);
  let outcome: ImageOutcome = {};
  try {
    outcome = await validateImage(part, await spool(part.bytes, path, limits));
    const { value } = outcome;
    if (value) value.size = await cleanImage(value, limits);
    return outcome;
  } catch (cause) {
    outcome = {};
    if (cause instanceof ImageRefusedError) return { message: cause.message };
    // A disk that is full or gone, if it is not the request's own fault.
    throw cause instanceof HttpError ? cause : new StoreUnavailableError('images', { cause });
  } finally {
    if (outcome.value === undefined) await rm(path, { force: true });
  }
}

interface Spooled {
  path: string;
  size: number;
  /** What it begins with: up to `HEAD_BYTES`. */
  head: Buffer;
}

/** How many bytes of one upload are written between two looks at the disk. */
const ROOM_CHECK_BYTES = 1024 * 1024;

/** Writes the bytes to a file that was not there. */
async function spool(bytes: Readable, path: string, { fileBytes, hasRoom }: FormLimits): Promise<Spooled> {
  let size = 0;
  let checkAt = 0;
  let head = Buffer.alloc(0);
  async function* measured(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      size += chunk.length;
      if (size > fileBytes) throw payloadTooLarge('The file is larger than this operation takes.');
      if (size > checkAt) {
        if (!(await hasRoom())) throw new StoreUnavailableError('images');
        checkAt = size + ROOM_CHECK_BYTES;
      }
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
      yield chunk;
    }
  }
  await writeFile(path, measured(), { flag: 'wx', mode: 0o600 });
  return { path, size, head };
}

/** The signature decides what an image is, and must agree with what the part declares it to be. */
async function validateImage(part: Part, { path, size, head }: Spooled): Promise<ImageOutcome> {
  if (isNoFile(part, size)) return {};
  const detected = detectImageType(head);
  if (!detected) {
    const actual = await describeFileType(head);
    if (actual) return { message: `is ${actual}; JPEG, PNG, GIF, WebP and AVIF are accepted` };
    return { message: 'must be a JPEG, PNG, GIF, WebP or AVIF image' };
  }
  const { mediaType } = detected;
  // RFC 2046 section 4.5.1: application/octet-stream declares nothing.
  const declared = part.mediaType === 'application/octet-stream' ? undefined : part.mediaType;
  if (declared !== undefined && canonicalMediaType(declared) !== mediaType) {
    const type = declared.length > MAX_MEDIA_TYPE_LENGTH ? 'another type' : declared;
    return { message: `is declared as ${type}, but its bytes are ${mediaType}` };
  }
  return { value: { path, size, mediaType } };
}
