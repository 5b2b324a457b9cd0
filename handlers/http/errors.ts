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

export const badRequest = (problems: readonly Problem[]) =>
  new HttpError(400, 'The request is not valid.', {}, problems);

/** A 400 about the body as a whole. */
export const badBody = (message: string) => badRequest([{ in: 'body', field: '', message }]);

/** RFC 6750 section 3: every 401 names the scheme. */
export const unauthorized = (message = 'Valid credentials are required.') =>
  new HttpError(401, message, { 'WWW-Authenticate': 'Bearer' });

export const forbidden = (message: string) => new HttpError(403, message);

export const notFound = (message = 'There is nothing at this address.') => new HttpError(404, message);

/** RFC 9110 section 15.5.6: a 405 lists what the path does take. */
export const methodNotAllowed = (allow: string) =>
  new HttpError(405, 'This address does not take that method.', { Allow: allow });

export const payloadTooLarge = (message = 'The body is larger than this operation takes.') =>
  new HttpError(413, message);

export const unsupportedMediaType = (expected: string) =>
  new HttpError(415, `This operation takes a body of type ${expected}.`);

export const tooManyRequests = (seconds: number) =>
  new HttpError(429, 'Too many requests. Try again later.', { 'Retry-After': String(seconds) });

export const unavailable = (message = 'The service cannot do this right now. Try again later.') =>
  new HttpError(503, message, { 'Retry-After': '5' });
