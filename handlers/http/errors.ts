/** One thing wrong with a request, as `errors` of a 400 lists it. `field` is empty when the whole body is meant. */
export interface Problem {
  in: 'body' | 'query' | 'path' | 'header';
  field: string;
  message: string;
}

/**
 * An answer that any operation may give because of how it was asked or of what has failed underneath. What an operation
 * itself expects (404, 409 …) is returned by its handler instead, so that the compiler can hold it to the contract.
 */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly problems?: readonly Problem[],
  ) {
    super(message);
    this.name = 'HttpError';
  }
}

/** How many problems a 400 lists. A body of 64 KiB may hold ten thousand unknown fields. */
export const MAX_PROBLEMS = 100;

export const badRequest = (problems: readonly Problem[]) =>
  new HttpError(400, 'The request is not valid.', {}, problems.slice(0, MAX_PROBLEMS));

/** A 400 about the body as a whole. */
export const badBody = (message: string) => badRequest([{ in: 'body', field: '', message }]);

const CREDENTIALS_REQUIRED = 'Valid credentials are required.';

/** RFC 6750 section 3: every 401 names the scheme. */
const challenge = (message: string) => new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });

/** Creates the 401 for a request without credentials. */
export const missingCredentials = () => challenge(CREDENTIALS_REQUIRED);

/** Creates a 401: for a wrong password if there is a message, else for a token that was sent and refused. */
export const unauthorized = (message?: string) =>
  message === undefined
    ? new HttpError(401, CREDENTIALS_REQUIRED, { 'WWW-Authenticate': 'Bearer error="invalid_token"' })
    : challenge(message);

export const forbidden = (message: string) => new HttpError(403, message);

export const notFound = (message = 'There is nothing at this address.') => new HttpError(404, message);

/** RFC 9110 section 15.5.6: a 405 lists what the path does take. */
export const methodNotAllowed = (allow: string) =>
  new HttpError(405, 'This address does not take that method.', { Allow: allow });

export const payloadTooLarge = (message = 'The body is larger than this operation takes.') =>
  new HttpError(413, message);

export const unsupportedMediaType = (expected: string) =>
  new HttpError(415, `This operation takes a body of type ${expected}.`);

/** Closes the connection too: a client that goes on regardless has to connect anew for each request. */
export const tooManyRequests = (seconds: number, message = 'Too many requests. Try again later.') =>
  new HttpError(429, message, { 'Retry-After': String(seconds), Connection: 'close' });

/** For a request that would wait too long for its turn. */
export const overloaded = () => new HttpError(503, 'The service is busy. Try again later.', { 'Retry-After': '2' });

/** Ends the handling of a request whose client no longer waits for the response. The status appears in logs and metrics only. */
export const clientClosed = () => new HttpError(499, 'The client closed the connection.');

export const unavailable = (message = 'The service cannot do this right now. Try again later.') =>
  new HttpError(503, message, { 'Retry-After': '5' });
