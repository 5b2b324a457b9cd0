/** An item of `errors` in a 400 response. `field` is empty if the problem concerns the whole body or path. */
export interface FieldProblem {
  in: 'body' | 'query' | 'path' | 'header';
  field: string;
  message: string;
}

/**
 * An error with the response to send. It is thrown for errors that many operations have in common. Handlers return the errors
 * that are specific to their operation (404, 409), so that the compiler checks them against the contract.
 */
export class HttpError extends Error {
  readonly code = 'http_error';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly problems?: readonly FieldProblem[],
  ) {
    super(message);
    this.name = 'HttpError';
  }
}

/** The maximum number of problems in a 400 response. A body of 64 KiB can contain 10,000 unknown fields. */
export const MAX_PROBLEMS = 100;

export const badRequest = (problems: readonly FieldProblem[]) =>
  new HttpError(400, 'The request is not valid.', {}, problems.slice(0, MAX_PROBLEMS));

/** Creates a 400 that concerns the whole body. */
export const badBody = (message: string) => badRequest([{ in: 'body', field: '', message }]);

const CREDENTIALS_REQUIRED = 'Valid credentials are required.';

/** Creates the 401 for wrong credentials other than a token. Every 401 names the authentication scheme (RFC 6750 section 3). */
export const invalidCredentials = (message: string) => new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });

/** Creates the 401 for a request without credentials. */
export const missingCredentials = () => invalidCredentials(CREDENTIALS_REQUIRED);

/** Creates the 401 for a refused token, or for one whose session or account has been deleted. */
export const invalidToken = () =>
  new HttpError(401, CREDENTIALS_REQUIRED, { 'WWW-Authenticate': 'Bearer error="invalid_token"' });

export const forbidden = (message: string) => new HttpError(403, message);

export const notFound = (message = 'Not found.') => new HttpError(404, message);

/** Creates a 405, which must list the methods that the path supports (RFC 9110 section 15.5.6). */
export const methodNotAllowed = (allow: string) =>
  new HttpError(405, 'This path does not support that method.', { Allow: allow });

export const payloadTooLarge = (message = 'The body is larger than this operation takes.') =>
  new HttpError(413, message);

export const unsupportedMediaType = (expected: string) =>
  new HttpError(415, `This operation takes a body of type ${expected}.`);

/** Creates a 429 that closes the connection: a client that ignores it has to reconnect for each request. */
export const tooManyRequests = (retryAfterSeconds: number, message = 'Too many requests. Try again later.') =>
  new HttpError(429, message, { 'Retry-After': String(retryAfterSeconds), Connection: 'close' });

/** Creates the 503 for a request that would have to wait too long in a queue. */
export const serviceBusy = () => new HttpError(503, 'The service is busy. Try again later.', { 'Retry-After': '2' });

/** Creates the error that ends a request whose client has disconnected. The status appears in logs and metrics only. */
export const clientClosed = () => new HttpError(499, 'The client closed the connection.');

export const unavailable = (message = 'The service cannot do this right now. Try again later.') =>
  new HttpError(503, message, { 'Retry-After': '5' });
