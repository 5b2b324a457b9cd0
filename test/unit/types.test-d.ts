// Never run: it is checked by compiling. Each case breaks the contract in one way, and must not compile.

import { Readable } from 'node:stream';
import type * as generated from '../../generated/handlers.js';
import type { Handlers } from '../../handlers/context.js';
import { handlers } from '../../handlers/index.js';

interface Caller {
  id: number;
}
type Request<Id extends generated.OperationId> = generated.Request<Id, Caller>;
type Answer<Id extends generated.OperationId> = generated.Response<Id>;

const profile = { id: 7, name: 'Mira', username: 'mira', profile_link: null, private: false };
const message = { message: 'Done.' };

// What the contract says compiles.
export const good: [
  Answer<'likePost'>,
  Answer<'likePost'>,
  Answer<'register'>,
  Answer<'getProfile'>,
  Answer<'listFriends'>,
  Answer<'getPostImage'>,
  Answer<'getPostImage'>,
] = [
  { status: 200, body: message },
  { status: 404, body: message },
  { status: 201, body: { id: 7 } },
  { status: 200, body: { id: 7, name: 'Mira', username: 'mira' } },
  { status: 200, headers: { Link: '</friends>' }, body: [profile] },
  { status: 200, body: Readable.from([]) },
  { status: 304 },
];

// @ts-expect-error a status that the operation does not declare
export const undeclaredStatus: Answer<'likePost'> = { status: 201, body: message };
// @ts-expect-error a status that another operation declares
export const foreignStatus: Answer<'listFriends'> = { status: 404, body: message };
// @ts-expect-error the body of another status
export const bodyOfAnotherStatus: Answer<'getProfile'> = { status: 404, body: profile };
// @ts-expect-error a field of another type
export const wrongType: Answer<'register'> = { status: 201, body: { id: '7' } };
// @ts-expect-error null where the contract has none
export const unexpectedNull: Answer<'getProfile'> = { status: 200, body: { ...profile, name: null } };
// @ts-expect-error a field that is missing
export const missingField: Answer<'getOwnProfile'> = { status: 200, body: { id: 7, name: 'Mira', username: 'mira' } };
// @ts-expect-error a field that the contract does not name
export const undeclaredField: Answer<'register'> = { status: 201, body: { id: 7, password_hash: '' } };
// @ts-expect-error a body that is missing
export const missingBody: Answer<'likePost'> = { status: 200 };
// @ts-expect-error a body where the status has none
export const unexpectedBody: Answer<'getPostImage'> = { status: 304, body: Readable.from([]) };
// @ts-expect-error a text where bytes are due
export const textForBytes: Answer<'getPostImage'> = { status: 200, body: 'bytes' };
// @ts-expect-error one where a list is due
export const oneForMany: Answer<'listFriends'> = { status: 200, body: profile };
// @ts-expect-error comments, which are reserved, are missing
export const noComments: Answer<'getPost'> = { status: 200, body: {} as Omit<PostDetail, 'comments'> };
type PostDetail = Extract<Answer<'getPost'>, { status: 200 }>['body'];

const { likePost, ...incomplete } = handlers;
// @ts-expect-error an operation without its handler
export const missingHandler: Handlers = incomplete;
// @ts-expect-error a handler of another operation
export const wrongHandler: Handlers = { ...handlers, likePost: handlers.register };
// @ts-expect-error a handler for no operation
export const strayHandler = { ...handlers, likePosts: likePost } satisfies Handlers;

export function requests(
  login: Request<'login'>,
  like: Request<'likePost'>,
  list: Request<'listPosts'>,
  update: Request<'updateProfile'>,
  create: Request<'createPost'>,
  session: Request<'deleteSession'>,
  post: Request<'getPost'>,
): unknown[] {
  return [
    // What the contract promises is there, and of its type.
    login.body.email.trim(),
    like.caller.id.toFixed(),
    like.query.id.toFixed(),
    list.query.limit.toFixed(),
    create.body.title.trim(),
    create.body.image?.path.trim(),
    update.body.private === true,
    session.path.id.trim(),
    post.path.id.toFixed(),

    // @ts-expect-error an open operation has no caller
    login.caller.id,
    // @ts-expect-error an id is no text
    like.query.id.trim(),
    // @ts-expect-error a session's id is no number
    session.path.id.toFixed(),
    // @ts-expect-error a query parameter that the operation does not document
    like.query.page,
    // @ts-expect-error a path without parameters
    like.path.id,
    // @ts-expect-error an operation without a body
    like.body.text,
    // @ts-expect-error a field that need not be there
    update.body.name.trim(),
    // @ts-expect-error a file that need not be there
    create.body.image.path,
    // @ts-expect-error a file is no text
    create.body.image?.trim(),
    // @ts-expect-error a boolean is no text
    update.body.private?.trim(),
    // @ts-expect-error a field that the contract does not name
    create.body.author_id,
  ];
}
