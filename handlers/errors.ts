import { ERROR_STATUSES, type ErrorCode, FIELD_MESSAGES, type FieldCode } from './error-codes.js';

/** Why a field is refused. */
export interface Reason {
  code: FieldCode;
  message: string;
}

/** A problem of one field: an item of `errors` in a 400 response. `field` is empty if it concerns the whole body or path. */
export interface FieldProblem extends Reason {
  in: 'body' | 'query' | 'path' | 'header';
  field: string;
}

/** Creates a reason, with the usual message of the code by default. */
export const reason = (code: FieldCode, message: string = FIELD_MESSAGES[code]): Reason => ({ code, message });

/** Creates a problem of a field, with the usual message of the code by default. */
export const fieldProblem = (
  location: FieldProblem['in'],
  field: string,
  code: FieldCode,
  message?: string,
): FieldProblem => ({ in: location, field, ...reason(code, message) });

/**
 * An error that determines the response to send. It is thrown for errors that many operations have in common. Errors that are
 * specific to an operation, such as a 409, are not thrown but returned by its handler, so that the compiler checks them against
 * the contract.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly problems?: readonly FieldProblem[],
  ) {
    super(message);
    this.status = ERROR_STATUSES[code];
  }
}

/** Creates an error response for a handler to return. The compiler checks that the operation declares its status. */
export const errorResponse = <Code extends ErrorCode>(code: Code, message: string) => ({
  status: ERROR_STATUSES[code],
  body: { code, message },
});

/** Creates the 409 for a username or email address that another account has. */
export const fieldTaken = (field: 'username' | 'email') =>
  errorResponse(`${field}_taken`, `The ${field === 'email' ? 'email address' : 'username'} is already in use.`);

/** Names the authentication scheme. Every 401 must have such a header (RFC 9110 section 15.5.2). */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

export const unauthorizedResponse = <Code extends ErrorCode>(code: Code, message: string) => ({
  ...errorResponse(code, message),
  headers: CHALLENGE,
});

/** The maximum number of problems in a 400 response, because a body of 64 KiB can contain thousands of unknown fields. */
const MAX_PROBLEMS = 100;

/** Creates a 400 with problems of fields. Identical problems are listed once. */
export function badRequest(problems: readonly FieldProblem[]): HttpError {
  const distinct = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return new HttpError(
    'invalid_request',
    'The request is not valid.',
    {},
    [...distinct.values()].slice(0, MAX_PROBLEMS),
  );
}

/** Creates a 400 with one problem, which concerns the whole body. */
export const badBody = (code: FieldCode, message?: string) => badRequest([fieldProblem('body', '', code, message)]);

export const missingCredentials = () =>
  new HttpError('missing_credentials', 'Send a token in the header Authorization: Bearer <token>.', CHALLENGE);

/** Creates the 401 for an invalid token, or for a token whose session or account has been deleted. */
export const invalidToken = () =>
  new HttpError('invalid_token', 'The token is not valid. Log in again.', {
    'WWW-Authenticate': 'Bearer error="invalid_token"',
  });

export const crossSiteRequest = () =>
  new HttpError('cross_site_request', 'Pages of this origin cannot send this request.');

export const registrationClosed = () =>
  new HttpError('registration_closed', 'Only the operator of this service creates accounts.');

export const notFound = () => new HttpError('not_found', 'Not found.');

/** Creates a 405. `allow` lists the methods that the path supports (RFC 9110 section 15.5.6). */
export const methodNotAllowed = (allow: string) =>
  new HttpError('method_not_allowed', 'This path does not support this method.', { Allow: allow });

export const bodyTooLarge = (maxBytes: number) =>
  new HttpError('body_too_large', `The body must have at most ${maxBytes} bytes.`);
export const fileTooLarge = (maxBytes: number) =>
  new HttpError('file_too_large', `The file must have at most ${maxBytes} bytes.`);

export const unsupportedMediaType = (expected: string | undefined) =>
  new HttpError('unsupported_media_type', `This operation takes a body of type ${expected}.`);

/** Creates the 415 for a body with a `Content-Encoding`. */
export const encodedBody = () =>
  new HttpError('unsupported_media_type', 'The body must be sent without a Content-Encoding.');

/** Creates a 429. It closes the connection, so that a client that ignores it must reconnect for each request. */
const throttled = (code: ErrorCode, message: string, retryAfterSeconds: number) =>
  new HttpError(code, message, { 'Retry-After': String(retryAfterSeconds), Connection: 'close' });

export const rateLimitExceeded = (retryAfterSeconds: number) =>
  throttled('rate_limit_exceeded', 'Too many requests. Try again later.', retryAfterSeconds);

export const tooManyFailedPasswords = (retryAfterSeconds: number) =>
  throttled('too_many_failed_passwords', 'Too many failed passwords. Try again later.', retryAfterSeconds);

/** Creates the error for a request whose client has disconnected (ClientDisconnectedError). It is never sent. */
export const clientClosed = () => new HttpError('client_closed_request', 'The client closed the connection.');

const unavailable = (code: ErrorCode, message: string, retryAfterSeconds: number) =>
  new HttpError(code, message, { 'Retry-After': String(retryAfterSeconds) });

export const storeUnavailable = () =>
  unavailable('store_unavailable', 'The service is temporarily unavailable. Try again later.', 5);

export const diskFull = () => unavailable('store_unavailable', 'The disk of the service is full. Try again later.', 5);

/**
 * Creates the 503 for work that waited too long in a bounded queue (OverloadedError). The waiting time is limited to about
 * three seconds.
 */
export const overloaded = () => unavailable('overloaded', 'The service is busy. Try again later.', 3);

export const shuttingDown = () => unavailable('shutting_down', 'The service is shutting down. Try again later.', 5);
