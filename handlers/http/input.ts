import type { FastifyRequest } from 'fastify';
import type { AppContext, AuthenticatedUser } from '../context.js';
import { badRequest, notFound, reason } from '../errors.js';
import type { Operation } from '../operation.js';
import { type Fields, schemaProblems, type Validation, validate } from '../validation.js';
import { authenticate } from './authenticate.js';
import { readBody } from './bodies.js';
import { coerceAll } from './coerce.js';
import { discardForm, type FormOptions } from './forms.js';
import { isRepeated } from './raw-headers.js';

/*
 * Reads and validates a request, in this order:
 *
 * 1. The body is read, if there is one.
 * 2. If the body took longer than `MAX_BODY_MS` to arrive, the request is authenticated again: its session may have ended.
 * 3. Query parameters and form fields are converted to their types. These, header parameters and a JSON body are validated
 *    against the schemas of the contract, and against `rules`.
 * 4. The path is validated.
 *
 * The problems that steps 1 and 3 find are reported together in one 400. An invalid path results in a 404, because no resource can
 * have it.
 */

interface Input {
  user: AuthenticatedUser | undefined;
  path: Fields;
  query: Fields;
  headerParameters: Fields;
  body: Fields | undefined;
  /** Removes the temporary files of a form, if any. */
  discard(): Promise<void>;
}

/** Within this time, another look at the session would tell nothing that the first did not. */
const MAX_BODY_MS = 100;

/** The maximum size of a form is the maximum size of a file plus this margin for its other parts. */
const FORM_MARGIN_BYTES = 256 * 1024;

/**
 * Reads and validates a request.
 *
 * @throws HttpError 400 with all problems, 401, 404 if the path is invalid, 413, 415
 * @throws StoreUnavailableError if the session cannot be read, or an uploaded file cannot be stored
 */
export async function readInput(request: FastifyRequest, operation: Operation, context: AppContext): Promise<Input> {
  const startedAt = performance.now();
  const { form, ...received } = await readBody(request, operation, formOptionsOf(context));
  const discard = async () => {
    if (form) await discardForm(form);
  };
  try {
    const isLate = performance.now() - startedAt > MAX_BODY_MS;
    const user = request.user && isLate ? await authenticate(request, context) : request.user;
    const query = readQuery(request, operation);
    const headers = readHeaderParameters(request, operation);
    const body = validate(operation, received, query, user);
    const problems = [query, headers, body].flatMap((part) => part.problems);
    if (problems.length > 0) throw badRequest(problems);
    const path = readPath(request, operation);
    return { user, path, query: query.fields, headerParameters: headers.fields, body: body.fields, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

const formOptionsOf = ({ config, uploadsDir, embedded }: AppContext): FormOptions => ({
  maxFileBytes: config.uploadMaxBytes,
  maxBodyBytes: config.uploadMaxBytes + FORM_MARGIN_BYTES,
  uploadsDir,
  hasFreeSpace: async () => embedded === undefined || embedded.freeSpace.check(),
  stripMetadata: config.uploadStripMetadata,
});

type Parameters = Validation & { fields: Fields };

function readQuery(request: FastifyRequest, operation: Operation): Parameters {
  const fields = coerceAll(request.query as Fields, operation.query);
  return { fields, problems: schemaProblems(operation, 'query', fields) };
}

/** Returns the header parameters that were sent. Their names are spelled as in the contract. */
function readHeaderParameters({ raw }: FastifyRequest, operation: Operation): Parameters {
  const fields: Fields = {};
  for (const name of Object.keys(operation.headers)) {
    // Node joins the values of a repeated header with a comma. This is correct for headers with lists, such as If-None-Match.
    // For other headers, the joined value is invalid, and is reported as `repeated` below.
    const value = raw.headers[name.toLowerCase()];
    if (value !== undefined) fields[name] = value;
  }
  const problems = schemaProblems(operation, 'header', fields).map((problem) =>
    isRepeated(raw, problem.field.toLowerCase()) ? { ...problem, ...reason('repeated') } : problem,
  );
  return { fields, problems };
}

/** Returns the path parameters. Throws HttpError 404 if one of them has a value that no id or name can have. */
function readPath(request: FastifyRequest, operation: Operation): Fields {
  const path = coerceAll(request.params as Fields, operation.pathParameters);
  if (schemaProblems(operation, 'path', path).length > 0) throw notFound();
  return path;
}
