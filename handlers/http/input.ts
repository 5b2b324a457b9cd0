import type { FastifyRequest } from 'fastify';
import type { Kind, Operation } from '../../generated/routes.js';
import { validators } from '../../generated/validators.js';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { normalizeEmail } from '../policy/emails.js';
import { rules } from '../rules.js';
import { authenticate } from './authenticate.js';
import { type Body, bodyOf, NO_BODY } from './bodies.js';
import { badRequest, HttpError, notFound, type Problem } from './errors.js';
import { discardForm, type Form, readForm } from './forms.js';
import { validateFields } from './validate.js';

type Fields = Record<string, unknown>;

/** A request's parts, parsed and found valid. Files of a form are to be discarded when they have been used. */
export interface Input {
  user: AuthenticatedUser | undefined;
  path: Fields;
  query: Fields;
  headerParameters: Fields;
  body: Fields | undefined;
  discard(): Promise<void>;
}

/** What a form may weigh besides its file. */
const FORM_MARGIN = 256 * 1024;

const INTEGER = /^(0|-?[1-9]\d*)$/;
const BOOLEAN = /^(true|false)$/i;
const NUL_OR_LONE_SURROGATE = /\0|\p{Surrogate}/u;

/**
 * Reads and judges a request: its query and body by the contract's schemas, then by the rules that no schema carries. All
 * problems are reported at once.
 *
 * @throws HttpError 400 with all problems, 401, 404 for a path that names nothing, 413, 415
 */
export async function readInput(request: FastifyRequest, operation: Operation, context: AppContext): Promise<Input> {
  const form = await readFormOf(request, operation, context);
  const discard = async () => {
    if (form) await discardForm(form);
  };
  try {
    const user = await reauthenticate(request, context);
    const problems: Problem[] = [];
    const query = coerceAll(request.query as Fields, operation.query);
    problems.push(...validateFields(validators[operation.id].query, query, 'query').problems);
    const headerParameters = readHeaderParameters(request, operation, problems);
    const unreadable = new Set<string>();
    const body = readBody(bodyOf(request), form, operation, problems, unreadable);
    const judged = {
      sent: [...Object.keys(body ?? {}), ...(form?.problems ?? []).map(({ field }) => field)],
      query: withoutInvalid(query, problems, 'query'),
      body: withoutInvalid(body ?? {}, problems, 'body'),
      texts: Object.fromEntries(
        Object.entries(body ?? {}).filter(([name, value]) => typeof value === 'string' && !unreadable.has(name)),
      ),
    };
    problems.push(...(rules[operation.id]?.(judged as never, user as AuthenticatedUser, context) ?? []));
    if (problems.length > 0) throw badRequest(problems);
    return { user, path: readPath(request, operation), query, headerParameters, body, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Whose request it is once its body has arrived: that may take minutes, and the session may have ended meanwhile. */
async function reauthenticate(request: FastifyRequest, context: AppContext): Promise<AuthenticatedUser | undefined> {
  return request.user && bodyOf(request).kind !== 'none' ? authenticate(request, context) : request.user;
}

/** The form, if the request brings one. Its files are spooled. */
async function readFormOf(
  request: FastifyRequest,
  { body }: Operation,
  { config, uploadsDir, embedded }: AppContext,
): Promise<Form | undefined> {
  if (bodyOf(request).kind !== 'form') return undefined;
  return readForm(request, body?.fields ?? {}, {
    fileBytes: config.uploadMaxBytes,
    bodyBytes: config.uploadMaxBytes + FORM_MARGIN,
    spoolDir: uploadsDir,
    hasRoom: async () => embedded === undefined || embedded.freeSpace.check(),
    stripMetadata: config.uploadStripMetadata,
  }).catch(unreadable);
}

/** A form that cannot be read to its end is one problem, beside those of the query. */
function unreadable(error: unknown): Form {
  if (error instanceof HttpError && error.problems) return { fields: {}, problems: [...error.problems] };
  throw error;
}

/** A path that holds what no id or name can be names nothing. */
function readPath(request: FastifyRequest, operation: Operation): Fields {
  const path = coerceAll(request.params as Fields, { id: 'integer' });
  if (Object.values(request.params as Fields).some((value) => NUL_OR_LONE_SURROGATE.test(String(value))))
    throw notFound();
  if (!validators[operation.id].path(path)) throw notFound();
  return path;
}

const NO_PARAMETERS: Fields = Object.freeze({});

/** Returns the header parameters that were sent, by the contract's spelling of their names. Adds to `problems`. */
function readHeaderParameters({ raw }: FastifyRequest, operation: Operation, problems: Problem[]): Fields {
  const validate = validators[operation.id].header;
  if (!operation.headers || !validate) return NO_PARAMETERS;
  const sent: Fields = {};
  for (const name of Object.keys(operation.headers)) {
    // Node joins repeated headers with a comma and a space, which list headers such as If-None-Match allow.
    const value = raw.headers[name.toLowerCase()];
    if (value !== undefined) sent[name] = value;
  }
  const parameters = coerceAll(sent, operation.headers);
  for (const problem of validateFields(validate, parameters, 'header').problems) {
    const repeated = (raw.headersDistinct[problem.field.toLowerCase()]?.length ?? 0) > 1;
    problems.push(repeated ? { ...problem, message: 'must be given once' } : problem);
  }
  return parameters;
}

/** The body's fields, judged by their schema; undefined when there are none to hand on. Adds to the last two arguments. */
function readBody(
  brought: Body,
  form: Form | undefined,
  operation: Operation,
  problems: Problem[],
  unreadable: Set<string>,
): Fields | undefined {
  const validate = (body: Fields) => {
    const judgement = validateFields(validators[operation.id].body, body, 'body');
    for (const field of judgement.unreadable) unreadable.add(field);
    return judgement.problems;
  };
  const refuse = (message: string) => {
    problems.push({ in: 'body', field: '', message });
    return undefined;
  };
  if (form) {
    const body = normalizeEmails(coerceAll(form.fields, operation.body?.fields ?? {}), operation);
    // What the form reader has found wrong with a field needs no second word.
    const named = new Set(form.problems.map(({ field }) => field));
    const judged = named.has('')
      ? []
      : validate(body).filter(({ field }) => !(field === '' ? named.size : named.has(field)));
    problems.push(...form.problems, ...judged);
    return body;
  }
  if (brought.kind === 'bad') return refuse(brought.message);
  if (brought.kind === 'none') {
    if (operation.body) problems.push(...validate({}));
    return undefined;
  }
  const value = brought.kind === 'json' ? brought.value : undefined;
  if (!operation.body && (operation.refusesEmptyObject || !isObject(value))) return refuse(NO_BODY);
  if (!isObject(value)) return refuse('must be a JSON object');
  const body = normalizeEmails(value, operation);
  problems.push(...validate(body));
  return body;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Only what spells the type becomes it. All else stays as it was sent, for the validator to refuse. */
function coerceAll(fields: Fields, kinds: Readonly<Record<string, Kind>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, coerce(value, kinds[name])]));
}

function coerce(value: unknown, kind: Kind | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (kind === 'integer' && INTEGER.test(value)) return Number(value);
  if (kind === 'boolean' && BOOLEAN.test(value)) return value.toLowerCase() === 'true';
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

/** The fields that nothing is wrong with so far. */
function withoutInvalid(fields: Fields, problems: readonly Problem[], place: Problem['in']): Fields {
  const bad = new Set(problems.filter((problem) => problem.in === place).map(({ field }) => field));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !bad.has(name)));
}
