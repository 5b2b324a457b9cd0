import { CommandError } from '../support/command-error.js';
import type { CheckedResponse, ContractClient, Send } from './client/index.js';

const UNKNOWN_PATH = '/contract-test/no-such-path';

/**
 * Checks with a few unauthenticated requests that the service is an implementation of the contract, even a faulty one. It
 * must reject an empty login as the contract says, or return 401 for protected paths and 404 for an unknown one.
 *
 * @throws CommandError otherwise, and for 429 or 503
 */
export async function recognize({ send, baseUrl }: ContractClient): Promise<void> {
  const sendAvailable = async (...[request, content]: Parameters<Send>) => {
    const response = await send(request, content);
    if (response.status === 429 || response.status === 503)
      throw new CommandError(`${baseUrl} responds with ${response.status} to ${request}: try again later`);
    const redirectedBaseUrl = baseUrlOfRedirect(response, request);
    if (redirectedBaseUrl === undefined) return response;
    throw new CommandError(`${baseUrl} redirects to ${redirectedBaseUrl}: give that address as --base-url`);
  };
  const login = mismatchOfLogin(await sendAvailable('POST /auth/login', { json: {} }));
  // Needed even if the login was rejected as expected: the headers show the general rate limit.
  const me = mismatchOfError(await sendAvailable('GET /auth/me'), 401);
  if (!login) return;
  const friends = mismatchOfError(await sendAvailable('GET /friends'), 401);
  const unknown = mismatchOfError(await sendAvailable(`GET ${UNKNOWN_PATH}`), 404);
  if (!me && !friends && !unknown) return;
  const mismatches = [
    login && `POST /auth/login with the JSON body {} ${login}`,
    me && `GET /auth/me without credentials ${me}`,
    friends && `GET /friends without credentials ${friends}`,
    unknown && `GET ${UNKNOWN_PATH} ${unknown}`,
  ].filter((mismatch) => mismatch !== undefined);
  throw new CommandError([`${baseUrl} is not an implementation of this contract:`, ...mismatches].join('\n  '));
}

/** Returns the base URL that a redirect to the same path leads to. */
function baseUrlOfRedirect({ status, headers, exchange }: CheckedResponse, request: string): string | undefined {
  const [, path = ''] = request.split(' ');
  const location = headers.get('location');
  if (status < 300 || status >= 400 || location === null || !URL.canParse(location, exchange.url)) return undefined;
  const target = new URL(location, exchange.url).href;
  return target.endsWith(path) ? target.slice(0, -path.length) : undefined;
}

/** Returns how a response differs from an error of the contract with this status, or undefined. */
function mismatchOfError({ status, headers, body }: CheckedResponse, expected: number): string | undefined {
  const type = headers.get('content-type')?.split(';')[0] ?? 'no media type';
  if (status !== expected) return `returned ${status} with ${type}, expected ${expected} with application/json`;
  if (type !== 'application/json') return `returned ${type}, expected application/json`;
  return typeof body?.message === 'string' ? undefined : 'returned a body without the field message';
}

/** Returns how the response to an empty login differs from the contract, or undefined. */
function mismatchOfLogin(response: CheckedResponse): string | undefined {
  const { errors } = response.body ?? {};
  const problems: { in?: string; field?: string }[] = Array.isArray(errors) ? errors : [];
  const isNamed = (field: string) => problems.some((problem) => problem?.in === 'body' && problem.field === field);
  const missing = ['email', 'password'].filter((field) => !isNamed(field));
  return (
    mismatchOfError(response, 400) ??
    (missing.length > 0 ? `returned errors that do not name the field ${missing.join(' and ')} of the body` : undefined)
  );
}
