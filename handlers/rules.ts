import type { OperationId } from '../generated/types.js';
import type { AuthenticatedUser } from './context.js';
import { decodeCursor } from './cursors.js';
import { type FieldProblem, fieldProblem } from './errors.js';
import type { Request } from './operation.js';
import { isDisposable } from './policy/emails.js';
import { passwordProblems } from './policy/passwords.js';
import { isInvisible } from './policy/texts.js';
import { usernameProblems } from './policy/usernames.js';

/** The part of a request that rules check, after it has been validated against the schemas. */
export interface ValidatedRequest<Id extends OperationId> {
  /** The names of all fields of the body, valid or not. */
  fieldNames: readonly string[];
  /** The query parameters that are valid against their schemas. */
  query: Partial<Request<Id>['query']>;
  /** The fields of the body that are valid against their schemas. */
  body: Partial<NonNullable<Request<Id>['body']>>;
  /**
   * The string fields of the body, valid or not, so that rules can report further problems of a value that is not valid.
   * Strings that are repeated, blank, too long or not well-formed Unicode are omitted.
   */
  texts: Readonly<Record<string, string>>;
}

type RequestRule<Id extends OperationId> = (request: ValidatedRequest<Id>, user: Request<Id>['user']) => FieldProblem[];

interface AccountFields {
  username?: string | undefined;
  email?: string | undefined;
  password?: string | undefined;
}

/**
 * Returns the problems that the policies find in a username, an email address and a password.
 *
 * @param resulting the username and email that the account will have after the request
 */
function accountProblems({ username, email, password }: AccountFields, resulting: AccountFields): FieldProblem[] {
  return [
    ...(username === undefined ? [] : usernameProblems(username).map((code) => fieldProblem('body', 'username', code))),
    ...(email !== undefined && isDisposable(email) ? [fieldProblem('body', 'email', 'disposable_email')] : []),
    ...(password === undefined
      ? []
      : passwordProblems(password, resulting).map((code) => fieldProblem('body', 'password', code))),
  ];
}

/** Returns a problem if a form has both an image and `remove_image: true`. */
function imageProblems(fieldNames: readonly string[], { remove_image }: { remove_image?: boolean }): FieldProblem[] {
  return fieldNames.includes('image') && remove_image
    ? [fieldProblem('body', 'remove_image', 'conflicting_fields')]
    : [];
}

/**
 * Returns a problem if a form changes nothing, because it contains only `current_password` or `remove_image: false`. A form
 * without fields is not reported here, but by the schema.
 */
function emptyChangeProblems(
  fieldNames: readonly string[],
  { remove_image }: { remove_image?: boolean },
): FieldProblem[] {
  const changesNothing = (name: string) =>
    name === 'current_password' || (name === 'remove_image' && remove_image === false);
  return fieldNames.length > 0 && fieldNames.every(changesNothing) ? [fieldProblem('body', '', 'no_changes')] : [];
}

/**
 * Returns the problems of texts that are stored: a problem for each that contains U+FFFD, the trace of a broken encoding, and for
 * each of `fields` of which nothing is visible. The schema reports only empty texts.
 */
const storedTextProblems = (texts: Readonly<Record<string, string>>, ...fields: string[]): FieldProblem[] =>
  Object.entries(texts).flatMap(([field, text]) => [
    ...(fields.includes(field) && isInvisible(text) ? [fieldProblem('body', field, 'blank')] : []),
    ...(text.includes('\ufffd') ? [fieldProblem('body', field, 'invalid_encoding', 'must not contain U+FFFD')] : []),
  ]);

const ownIdProblems = (field: string, id: number | undefined, { account }: AuthenticatedUser): FieldProblem[] =>
  id === account.id ? [fieldProblem('query', field, 'own_id')] : [];

function cursorProblems({ cursor, offset }: { cursor?: string; offset?: number }): FieldProblem[] {
  if (cursor === undefined) return [];
  return [
    ...(decodeCursor(cursor) ? [] : [fieldProblem('query', 'cursor', 'invalid_cursor')]),
    ...(offset === undefined
      ? []
      : [fieldProblem('query', 'cursor', 'conflicting_fields', 'must not be sent together with offset')]),
  ];
}

/**
 * The rules that JSON Schema cannot express, by operation. They run even if the schema reports problems, so that one 400 lists
 * all problems.
 */
export const rules: { [Id in OperationId]?: RequestRule<Id> } = {
  register: ({ body, texts }) => [
    ...storedTextProblems(texts, 'name'),
    ...accountProblems({ ...body, password: texts.password }, body),
  ],

  updateProfile({ fieldNames, body, texts: { current_password, ...texts } }, { account }) {
    const { password } = texts;
    const { username = account.username, email = account.email } = body;
    return [
      ...storedTextProblems(texts, 'name'),
      ...accountProblems({ ...body, password }, { username, email }),
      ...(fieldNames.includes('password') && !fieldNames.includes('current_password')
        ? [fieldProblem('body', 'current_password', 'required', 'is required to change the password')]
        : []),
      ...imageProblems(fieldNames, body),
      ...emptyChangeProblems(fieldNames, body),
    ];
  },

  createPost: ({ texts }) => storedTextProblems(texts, 'title', 'text'),

  editPost: ({ fieldNames, body, texts }) => [
    ...storedTextProblems(texts, 'title', 'text'),
    ...imageProblems(fieldNames, body),
    ...emptyChangeProblems(fieldNames, body),
  ],

  listPosts: ({ query }) => cursorProblems(query),
  listOwnPosts: ({ query }) => cursorProblems(query),

  sendFriendRequest: ({ query }, user) => ownIdProblems('to', query.to, user),
  // If `me` is the id of another user, the handler returns a 403, so `them` does not matter.
  createRelationship: ({ query: { me, them } }, user) =>
    me === user.account.id ? ownIdProblems('them', them, user) : [],
};
