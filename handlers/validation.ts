import type { OperationId } from '../generated/types.js';
import * as generated from '../generated/validators.js';
import type { AuthenticatedUser } from './context.js';
import type { FieldCode } from './error-codes.js';
import type { FieldProblem } from './errors.js';
import { type Validate, validateFields } from './field-validation.js';
import type { Operation, Request } from './operation.js';
import { normalizeEmail } from './policy/emails.js';
import { rules, type ValidatedRequest } from './rules.js';

/* Validates fields against the schemas of the contract, and then against `rules`, the requirements that JSON Schema cannot express. */

export type Fields = Record<string, unknown>;

/** Fields, valid or not, with their problems. */
export interface Validation {
  /** Undefined for a body that is missing or not an object. */
  fields: Fields | undefined;
  problems: readonly FieldProblem[];
}

const validators: Readonly<Record<OperationId, Readonly<Record<FieldProblem['in'], Validate>>>> = generated.validators;

/** Returns the problems that the schema of an operation finds in the fields of a body, query, path or header. */
export const schemaProblems = ({ id }: Operation, location: FieldProblem['in'], fields: Fields): FieldProblem[] =>
  validateFields(validators[id][location], fields, location);

/**
 * Validates a body against its schema, and the body and query against `rules`.
 *
 * @param received the body, with the problems that were found while it was read. Such a field gets no further problem from the schema
 */
export function validate(
  operation: Operation,
  received: Validation,
  query: Validation = { fields: {}, problems: [] },
  user?: AuthenticatedUser,
): Validation {
  const fields = received.fields && normalizeEmails(received.fields, operation);
  const reported = new Set(received.problems.map(({ field }) => field));
  // If all fields of a form were refused, the schema reports that it changes nothing. This problem is omitted.
  const isNew = ({ field }: FieldProblem) => (field === '' ? reported.size === 0 : !reported.has(field));
  const fromSchema = fields ? schemaProblems(operation, 'body', fields).filter(isNew) : [];
  const body = { fields: fields ?? {}, problems: [...received.problems, ...fromSchema] };
  // TypeScript cannot know that these fields are valid against the schemas of this operation.
  const validated = {
    fieldNames: [...Object.keys(body.fields), ...reported],
    query: withoutProblems(query),
    body: withoutProblems(body),
    texts: usableTexts(body),
  } as ValidatedRequest<OperationId>;
  return { fields, problems: [...body.problems, ...ruleProblems(operation.id, validated, user)] };
}

/** Calls the rule of an operation. The type parameter tells TypeScript that its arguments belong to it. */
const ruleProblems = <Id extends OperationId>(
  id: Id,
  request: ValidatedRequest<Id>,
  user: Request<Id>['user'],
): FieldProblem[] => rules[id]?.(request, user) ?? [];

function normalizeEmails(fields: Fields, { body }: Operation): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      body?.emails.includes(name) && typeof value === 'string' ? normalizeEmail(value) : value,
    ]),
  );
}

/** Returns the fields that have none of these problems. */
function withoutProblems({ fields, problems }: Validation): Fields {
  const invalid = new Set(problems.map(({ field }) => field));
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => !invalid.has(name)));
}

/** A text with one of these problems is not passed to `rules`: processing it would be pointless or expensive. */
const UNUSABLE_TEXT_CODES: readonly FieldCode[] = ['repeated', 'blank', 'too_long', 'invalid_encoding'];

/** Returns the string fields that `rules` can process. */
function usableTexts({ fields, problems }: Validation): Record<string, string> {
  const usable = withoutProblems({
    fields,
    problems: problems.filter(({ code }) => UNUSABLE_TEXT_CODES.includes(code)),
  });
  return Object.fromEntries(
    Object.entries(usable).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
