// Only compiled, never run. Each case violates the contract in one way and must not compile. The valid cases
// are the real handlers.

import { Readable } from 'node:stream';
import { handlers } from '../../handlers/index.js';
import type { Handlers, Request, Response } from '../../handlers/operation.js';

const profile = { id: 7, name: 'Mira', username: 'mira', profile_link: null, private: false };
const notFound = { code: 'not_found', message: 'There is no such post.' } as const;

// @ts-expect-error a status that the operation does not declare
export const undeclaredStatus: Response<'likePost'> = { status: 201, body: { message: 'Done.' } };
// @ts-expect-error a code that is not in the table of codes
export const unknownCode: Response<'likePost'> = { status: 404, body: { ...notFound, code: 'no_such_post' } };
// @ts-expect-error the body of another status
export const bodyOfAnotherStatus: Response<'getProfile'> = { status: 404, body: profile };
// @ts-expect-error null where it is not allowed
export const unexpectedNull: Response<'getProfile'> = { status: 200, body: { ...profile, name: null } };
// @ts-expect-error a field that is missing
export const missingField: Response<'getOwnProfile'> = { status: 200, body: { id: 7, name: 'Mira', username: 'mira' } };
// @ts-expect-error an unknown field
export const undeclaredField: Response<'register'> = { status: 201, body: { id: 7, password_hash: '' } };
// @ts-expect-error a body that is missing
export const missingBody: Response<'likePost'> = { status: 200 };
// @ts-expect-error a body where the status has none
export const unexpectedBody: Response<'getPostImage'> = { status: 304, body: Readable.from([]) };
// @ts-expect-error a string instead of bytes
export const textForBytes: Response<'getPostImage'> = { status: 200, body: 'bytes' };

const { likePost, ...incomplete } = handlers;
// @ts-expect-error an operation without its handler
export const missingHandler: Handlers = incomplete;
// @ts-expect-error a handler of another operation
export const wrongHandler: Handlers = { ...handlers, likePost: handlers.register };
// @ts-expect-error a handler without an operation
export const strayHandler = { ...handlers, likePosts: likePost } satisfies Handlers;

export function requests(
  login: Request<'login'>,
  like: Request<'likePost'>,
  update: Request<'updateProfile'>,
  create: Request<'createPost'>,
  session: Request<'deleteSession'>,
): unknown[] {
  return [
    // @ts-expect-error a public operation has no user
    login.user.account,
    // @ts-expect-error an id is not a string
    like.query.id.trim(),
    // @ts-expect-error a session id is not a number
    session.path.id.toFixed(),
    // @ts-expect-error a query parameter that the operation does not document
    like.query.page,
    // @ts-expect-error a path without parameters
    like.path.id,
    // @ts-expect-error an operation without a body
    like.body.text,
    // @ts-expect-error an optional field
    update.body.name.trim(),
    // @ts-expect-error an optional file
    create.body.image.path,
    // @ts-expect-error a file is not a string
    create.body.image?.trim(),
    // @ts-expect-error a boolean is not a string
    update.body.private?.trim(),
    // @ts-expect-error an unknown field
    create.body.author_id,
  ];
}
