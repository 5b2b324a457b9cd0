import type { FastifyRequest } from 'fastify';
import type { OperationId } from '../../generated/types.js';
import * as generated from '../../generated/validators.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import type { FieldCode } from '../error-codes.js';
import { badRequest, type FieldProblem, fieldProblem, notFound, reason } from '../errors.js';
import type { FieldType, Operation } from '../operation.js';
import { normalizeEmail } from '../policy/emails.js';
import { rules, type ValidatedRequest } from '../rules.js';
import { authenticate } from './authenticate.js';
import { type RequestBody, readBody } from './bodies.js';
import { type Validate, validateFields } from './field-validation.js';
import { discardForm, type Form, type FormOptions } from './forms.js';
import { isRepeated } from './raw-headers.js';

/*
 * Reads and validates a request, in this order:
 *
 * 1. The body is read, if there is one.
 * 2. If the body took longer than `MAX_BODY_MS` to arrive, the request is authenticated again: its session may have ended.
 * 3. Query parameters and form fields are converted to their types. These, header parameters and a JSON body are validated
 *    against the schemas of the contract.
 * 4. `rules` checks the requirements that JSON Schema cannot express.
 * 5. The path is validated.
 *
 * The problems that steps 1, 3 and 4 find are reported together in one 400. An invalid path results in a 404, because no
 * resource can have it.
 */

type Fields = Record<string, unknown>;

interface Input {
  user: AuthenticatedUser | undefined;
  path: Fields;
  query: Fields;
  headerParameters: Fields;
  body: Fields | undefined;
  /** Removes the temporary files of a form, if any. */
  discard(): Promise<void>;
}

const validators: Readonly<Record<OperationId, Readonly<Record<FieldProblem['in'], Validate>>>> = generated.validators;

/** `rules` with a type that fits any operation. */
const ruleOf: Readonly<Partial<Record<OperationId, (request: never, user: never) => FieldProblem[]>>> = rules;

/** Within this time, another look at the session would tell nothing that the first did not. */
const MAX_BODY_MS = 100;

/** The maximum size of a form is the maximum size of a file plus this margin for its other parts. */
const FORM_MARGIN_BYTES = 256 * 1024;

const INTEGER = /^(0|-?[1-9]\d*)$/;
const BOOLEAN = /^(true|false)$/i;
const NUL_OR_UNPAIRED_SURROGATE = /\0|\p{Surrogate}/u;

/**
 * Reads and validates a request.
 *
 * @throws HttpError 400 with all problems, 401, 404 if the path is invalid, 413, 415
 * @throws StoreUnavailableError if the session cannot be read, or an uploaded file cannot be stored
 */
export async function readInput(request: FastifyRequest, operation: Operation, context: AppContext): Promise<Input> {
  const startedAt = performance.now();
  const received = await readBody(request, operation, formOptionsOf(context));
  const form = received.kind === 'form' ? received.form : undefined;
  const discard = async () => {
    if (form) await discardForm(form);
  };
  try {
    const isLate = performance.now() - startedAt > MAX_BODY_MS;
    const user = request.user && isLate ? await authenticate(request, context) : request.user;
    const query = coerceAll(request.query as Fields, operation.query);
    const queryProblems = validateFields(validators[operation.id].query, query, 'query');
    const headers = validateHeaderParameters(request, operation);
    const body = validateBody(received, operation);
    const refusedFields = (form?.problems ?? []).map(({ field }) => field);
    const ruleProblems = applyRules(operation, body, refusedFields, withoutProblems(query, queryProblems), user);
    const problems = [...queryProblems, ...headers.problems, ...body.problems, ...ruleProblems];
    if (problems.length > 0) throw badRequest(problems);
    const path = readPath(request, operation);
    return { user, path, query, headerParameters: headers.fields, body: body.fields, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Returns the problems of a request with this JSON body. */
export function problemsOfBody(operation: Operation, value: Fields): FieldProblem[] {
  const body = validateBody({ kind: 'json', value }, operation);
  return [...body.problems, ...applyRules(operation, body)];
}

/** Returns the problems that `rules` find in a body and query. @param refusedFields fields that `body` does not contain */
function applyRules(
  operation: Operation,
  { fields = {}, problems }: Validation,
  refusedFields: readonly string[] = [],
  query: Fields = {},
  user?: AuthenticatedUser,
): FieldProblem[] {
  const validated = {
    fieldNames: [...Object.keys(fields), ...refusedFields],
    query,
    body: withoutProblems(fields, problems),
    texts: usableTexts(fields, problems),
  } satisfies Record<keyof ValidatedRequest<OperationId>, unknown>;
  return ruleOf[operation.id]?.(validated as never, user as never) ?? [];
}

const formOptionsOf = ({ config, uploadsDir, embedded }: AppContext): FormOptions => ({
  maxFileBytes: config.uploadMaxBytes,
  maxBodyBytes: config.uploadMaxBytes + FORM_MARGIN_BYTES,
  uploadsDir,
  hasFreeSpace: async () => embedded === undefined || embedded.freeSpace.check(),
  stripMetadata: config.uploadStripMetadata,
});

/** Returns the path parameters. Throws HttpError 404 if one of them has a value that no id or name can have. */
function readPath(request: FastifyRequest, operation: Operation): Fields {
  const path = coerceAll(request.params as Fields, operation.pathParameters);
  if (Object.values(request.params as Fields).some((value) => NUL_OR_UNPAIRED_SURROGATE.test(String(value))))
    throw notFound();
  if (!validators[operation.id].path(path)) throw notFound();
  return path;
}

/** Fields, valid or not, with their problems. */
interface Validation {
  /** Undefined if there is no body, or if it is not an object. */
  fields: Fields | undefined;
  problems: readonly FieldProblem[];
}

/** Validates the header parameters that were sent. Their names are spelled as in the contract. */
function validateHeaderParameters({ raw }: FastifyRequest, operation: Operation): Validation & { fields: Fields } {
  const fields: Fields = {};
  for (const name of Object.keys(operation.headers)) {
    // Node joins the values of a repeated header with a comma. This is correct for headers with lists, such as If-None-Match.
    // For other headers, the joined value is invalid, and is reported as `repeated` below.
    const value = raw.headers[name.toLowerCase()];
    if (value !== undefined) fields[name] = value;
  }
  const problems = validateFields(validators[operation.id].header, fields, 'header').map((problem) =>
    isRepeated(raw, problem.field.toLowerCase()) ? { ...problem, ...reason('repeated') } : problem,
  );
  return { fields, problems };
}

const refusedBody = (code: FieldCode): Validation => ({
  fields: undefined,
  problems: [fieldProblem('body', '', code)],
});

function validateBody(received: RequestBody, operation: Operation): Validation {
  const validate = validators[operation.id].body;
  switch (received.kind) {
    case 'invalid':
      return { fields: undefined, problems: received.problems };
    case 'none':
      return { fields: undefined, problems: operation.body ? validateFields(validate, {}, 'body') : [] };
    case 'form':
      return validateForm(received.form, operation);
  }
  const { value } = received;
  // For an operation without a body, the schema reports the fields of an object as unknown. `{}` is valid, unless the operation
  // refuses it.
  if (!operation.body && (operation.refusesEmptyObject || !isObject(value))) return refusedBody('unexpected_body');
  if (!isObject(value)) return refusedBody('not_an_object');
  const fields = normalizeEmails(value, operation);
  return { fields, problems: validateFields(validate, fields, 'body') };
}

/** Validates a form. A field for which `readForm` has reported a problem gets no further problem from the schema. */
function validateForm(form: Form, operation: Operation): Validation {
  const fields = normalizeEmails(coerceAll(form.fields, operation.body?.fields ?? {}), operation);
  const reported = new Set(form.problems.map(({ field }) => field));
  const problems = validateFields(validators[operation.id].body, fields, 'body');
  // If all fields were refused, `fields` is empty, and the schema reports that the form changes nothing. Omits this problem.
  const fromSchema = problems.filter(({ field }) => (field === '' ? reported.size === 0 : !reported.has(field)));
  return { fields, problems: [...form.problems, ...fromSchema] };
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Converts the values of integer and boolean fields from strings to these types. A string that is not an integer or boolean is
 * kept, so that the schema reports it.
 */
function coerceAll(fields: Fields, types: Readonly<Record<string, FieldType>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, coerce(value, types[name])]));
}

function coerce(value: unknown, type: FieldType | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && INTEGER.test(value)) return Number(value);
  if (type === 'boolean' && BOOLEAN.test(value)) return value.toLowerCase() === 'true';
  return value;
}

function normalizeEmails(fields: Fields, { body }: Operation): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      body?.emails.includes(name) && typeof value === 'string' ? normalizeEmail(value) : value,
    ]),
  );
}

/** Returns the fields that have none of these problems. */
function withoutProblems(fields: Fields, problems: readonly FieldProblem[]): Fields {
  const invalid = new Set(problems.map(({ field }) => field));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !invalid.has(name)));
}

/** A text with one of these problems is not passed to `rules`: processing it would be pointless or expensive. */
const UNUSABLE_TEXT_CODES: readonly FieldCode[] = ['repeated', 'blank', 'too_long', 'invalid_encoding'];

/** Returns the string fields that `rules` can process. */
function usableTexts(fields: Fields, problems: readonly FieldProblem[]): Fields {
  const usable = withoutProblems(
    fields,
    problems.filter(({ code }) => UNUSABLE_TEXT_CODES.includes(code)),
  );
  return Object.fromEntries(Object.entries(usable).filter(([, value]) => typeof value === 'string'));
}
