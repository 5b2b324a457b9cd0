import type { OperationId, Request } from '../generated/handlers.js';
import type { App, Caller } from './context.js';
import type { Problem } from './http/errors.js';
import { isDisposable } from './policy/emails.js';
import { passwordProblems } from './policy/passwords.js';
import { usernameProblems } from './policy/usernames.js';

interface Judged<Id extends OperationId> {
  /** The names of the body's fields, sound or not. */
  sent: readonly string[];
  /** The part of the request that its schemas have found nothing wrong with. */
  query: Partial<Request<Id, Caller>['query']>;
  body: Partial<NonNullable<Request<Id, Caller>['body']>>;
  /**
   * The body's texts, sound or not: for a rule that has more to say about a text than its schema has said. Texts that are too
   * long or ill-formed are left out.
   */
  texts: Readonly<Record<string, string>>;
}

type Rule<Id extends OperationId> = (request: Judged<Id>, caller: Caller, app: App) => Problem[];

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

const notOwnId = (field: string, id: number | undefined, { account }: Caller): Problem[] =>
  id === account.id ? [{ in: 'query', field, message: 'must not be your own id' }] : [];

/** What the contract says in words because no JSON Schema can: judged with the schemas, so that all problems come at once. */
export const rules: { [Id in OperationId]?: Rule<Id> } = {
  register: ({ body, texts: { password } }) => personProblems({ ...body, password }, body),

  updateProfile({ sent, body, texts: { password } }, { account }) {
    const { username = account.username, email = account.email } = body;
    return [
      ...personProblems({ ...body, password }, { username, email }),
      ...(sent.includes('password') && !sent.includes('current_password')
        ? [inBody('current_password')('is required to change the password')]
        : []),
      ...imageProblems(sent, body),
      ...emptyChange(sent, body, ['current_password']),
    ];
  },

  editPost: ({ sent, body }) => [...imageProblems(sent, body), ...emptyChange(sent, body)],

  sendFriendRequest: ({ query }, caller) => notOwnId('to', query.to, caller),
  // With another user's id as `me` the request is forbidden, whatever `them` is.
  createRelationship: ({ query: { me, them } }, caller) =>
    me === caller.account.id ? notOwnId('them', them, caller) : [],
};
