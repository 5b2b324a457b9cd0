import type { IncomingMessage } from 'node:http';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badBody, encodedBody, HttpError, unsupportedMediaType } from '../errors.js';
import type { Operation } from '../operation.js';
import { imageTypes } from '../policy/image-types.js';
import type { Fields, Validation } from '../validation.js';
import { readBytes } from './body-bytes.js';
import { coerceAll } from './coerce.js';
import { type Form, type FormOptions, readForm } from './forms.js';

/*
 * Request bodies. Fastify's parsers are replaced by ones that read nothing: a body is read by `readBody`, when the request has
 * been authenticated and its operation is known. Requests without an operation never wait for their body.
 */

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';
/** Matches the beginning of a valid Content-Type: a media type (RFC 9110 section 8.3.1), before its parameters. */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;

const MAX_JSON_BYTES = 64 * 1024;

/** The fields of a body. An invalid body has only problems, which are reported in one 400 together with those of the request. */
interface ReceivedBody extends Validation {
  /** The form, whose files are to be removed afterwards. */
  form?: Form;
}

/** Accepts bodies of all media types. */
export async function acceptBodies(server: FastifyInstance): Promise<void> {
  server.removeAllContentTypeParsers();
  await server.register(multipart, { throwFileSizeLimit: false });
  // `*` would suffice, but fastify-openapi-glue warns about every media type of the contract that is not listed here.
  const types = ['*', JSON_TYPE, ...imageTypes.map(({ mediaType }) => mediaType)];
  server.addContentTypeParser(types, (_request, _payload, done) => done(null));
  server.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const type = headers['content-type'];
    // Fastify would respond to a malformed media type with a 415 of its own. Instead, a malformed type counts as
    // application/octet-stream, as a missing one does (RFC 9110 section 8.3).
    if (type !== undefined && !MEDIA_TYPE.test(type)) headers['content-type'] = 'application/octet-stream';
    done();
  });
}

/**
 * Reads the body of a request. An empty body counts as no body. A body that the operation does not take is refused at its
 * first byte. What is not read is drained.
 *
 * @throws HttpError 413, 415
 * @throws StoreUnavailableError if an uploaded file cannot be stored
 */
export async function readBody(
  request: FastifyRequest,
  operation: Operation,
  formOptions: FormOptions,
): Promise<ReceivedBody> {
  const { raw, mediaType } = request;
  const { body } = operation;
  // A required field is then reported as missing.
  const none = { fields: body && {}, problems: [] };
  if (!mayHaveBody(raw)) return none;
  const isEncoded = (raw.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
  try {
    if (isEncoded || mediaType !== (body?.mediaType ?? JSON_TYPE)) {
      await expectNoBytes(raw, isEncoded ? encodedBody() : unsupportedMediaType(body?.mediaType));
      return none;
    }
    if (body?.mediaType === FORM_TYPE) {
      const form = await readForm(request, body.fields, formOptions);
      return { fields: coerceAll(form.fields, body.fields), problems: form.problems, form };
    }
    const value = await readJson(raw);
    return value === undefined ? none : { fields: fieldsOf(value, operation), problems: [] };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // An operation that takes no body refuses each for this reason, however large or malformed it is.
    const { problems } = body ? error : badBody('unexpected_body');
    if (problems) return { fields: undefined, problems };
    throw error;
  }
}

const mayHaveBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

async function expectNoBytes(request: IncomingMessage, refusal: HttpError): Promise<void> {
  // Without a limit, which the first piece could already exceed.
  for await (const _ of readBytes(request, Number.POSITIVE_INFINITY)) throw refusal;
}

/** Returns the fields of a JSON body. @throws HttpError if it is not an object, or if the operation takes no body */
function fieldsOf(value: unknown, { body, refusesEmptyObject }: Operation): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (body && !isObject) throw badBody('not_an_object');
  // For an operation without a body, the schema reports the fields of an object as unknown. `{}` is valid, unless the operation
  // refuses it.
  if (!isObject || (!body && refusesEmptyObject)) throw badBody('unexpected_body');
  return { ...value };
}

/** Returns undefined if the body is empty. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  // Decoded piece by piece, because small chunks take much more memory than their text.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isEmpty = true;
  let json = '';
  try {
    for await (const bytes of readBytes(request, MAX_JSON_BYTES)) {
      isEmpty = false;
      json += decoder.decode(bytes, { stream: true });
    }
    return isEmpty ? undefined : JSON.parse(json + decoder.decode());
  } catch (error) {
    throw error instanceof HttpError ? error : badBody('malformed_json');
  }
}
