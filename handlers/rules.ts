import type { OperationId } from '../generated/types.js';
import type { AppContext, AuthenticatedUser } from './context.js';
import type { Problem } from './http/errors.js';
import type { Request } from './operation.js';
import { isDisposable } from './policy/emails.js';
import { passwordProblems } from './policy/passwords.js';
import { usernameProblems } from './policy/usernames.js';

interface ValidatedRequest<Id extends OperationId> {
  /** The names of the body's fields, sound or not. */
  fieldNames: readonly string[];
  /** The part of the request that its schemas have found nothing wrong with. */
  query: Partial<Request<Id>['query']>;
  body: Partial<NonNullable<Request<Id>['body']>>;
  /**
   * The body's texts, sound or not: for a rule that has more to say about a text than its schema has said. Texts that are too
   * long or ill-formed are left out.
   */
  texts: Readonly<Record<string, string>>;
}

type Rule<Id extends OperationId> = (
  request: ValidatedRequest<Id>,
  user: AuthenticatedUser,
  context: AppContext,
) => Problem[];

const inBody = (field: string) => (message: string) => ({ in: 'body', field, message }) as const;
const NOTHING_TO_CHANGE = inBody('')('at least one change is required');
const IMAGE_AND_REMOVAL = inBody('remove_image')('must not be true together with an image');

interface Person {
  username?: string | undefined;
  email?: string | undefined;
  password?: string | undefined;
}

function personProblems({ username, email, password }: Person, resulting: Person): Problem[] {
  return [
    ...(username === undefined ? [] : usernameProblems(username).map(inBody('username'))),
    ...(email !== undefined && isDisposable(email) ? [inBody('email')('must not be a disposable address')] : []),
    ...(password === undefined ? [] : passwordProblems(password, resulting).map(inBody('password'))),
  ];
}

function imageProblems(sent: readonly string[], { remove_image }: { remove_image?: boolean }): Problem[] {
  return sent.includes('image') && remove_image ? [IMAGE_AND_REMOVAL] : [];
}

/** A form that was sent and changes nothing: these fields alone, or a `remove_image` that removes nothing. */
function emptyChange(
  sent: readonly string[],
  body: { remove_image?: boolean },
  idle: readonly string[] = [],
): Problem[] {
  const changes = sent.filter(
    (name) => !idle.includes(name) && !(name === 'remove_image' && body.remove_image === false),
  );
  return sent.length > 0 && changes.length === 0 ? [NOTHING_TO_CHANGE] : [];
}

const notOwnId = (field: string, id: number | undefined, { account }: AuthenticatedUser): Problem[] =>
  id === account.id ? [{ in: 'query', field, message: 'must not be your own id' }] : [];

/** What the contract says in words because no JSON Schema can: judged with the schemas, so that all problems come at once. */
export const rules: { [Id in OperationId]?: Rule<Id> } = {
  register: ({ body, texts: { password } }) => personProblems({ ...body, password }, body),

  updateProfile({ fieldNames, body, texts: { password } }, { account }) {
    const { username = account.username, email = account.email } = body;
    return [
      ...personProblems({ ...body, password }, { username, email }),
      ...(fieldNames.includes('password') && !fieldNames.includes('current_password')
        ? [inBody('current_password')('is required to change the password')]
        : []),
      ...imageProblems(fieldNames, body),
      ...emptyChange(fieldNames, body, ['current_password']),
    ];
  },

  editPost: ({ fieldNames, body }) => [...imageProblems(fieldNames, body), ...emptyChange(fieldNames, body)],

  sendFriendRequest: ({ query }, user) => notOwnId('to', query.to, user),
  // With another user's id as `me` the request is forbidden, whatever `them` is.
  createRelationship: ({ query: { me, them } }, user) => (me === user.account.id ? notOwnId('them', them, user) : []),
};
