import { CommandError } from '../support/command-error.js';
import type { Client, ReceivedResponse, Send } from './client/index.js';

const UNKNOWN_PATH = '/contract-test/no-such-path';

const isJsonError = ({ body }: ReceivedResponse) => typeof body === 'object' && typeof body?.message === 'string';

/** Returns whether an empty login was rejected as in the contract: `errors` name email and password by `in` and `field`. */
function namesLoginFields({ status, body }: ReceivedResponse): boolean {
  if (status !== 400 || !Array.isArray(body?.errors)) return false;
  const named = body.errors.map((problem: { in?: string; field?: string }) => `${problem?.in}.${problem?.field}`);
  return named.includes('body.email') && named.includes('body.password');
}

/**
 * Checks with a few unauthenticated requests that the service is an implementation of the contract, even a faulty one. It
 * must reject an empty login as the contract says, or return 401 for protected paths and 404 for an unknown one.
 *
 * @throws CommandError otherwise, and for 429 or 503
 */
export async function recognize({ send, baseUrl }: Client): Promise<void> {
  const sendAvailable = async (...[request, content]: Parameters<Send>) => {
    const response = await send(request, content);
    if (response.status !== 429 && response.status !== 503) return response;
    throw new CommandError(`${baseUrl} responds with ${response.status} to ${request}: try again later`);
  };
  const login = await sendAvailable('POST /auth/login', { json: {} });
  // Needed even if the login was rejected as expected: the headers show the general rate limit.
  const me = await sendAvailable('GET /auth/me');
  if (namesLoginFields(login)) return;
  const [friends, unknown] = [await sendAvailable('GET /friends'), await sendAvailable(`GET ${UNKNOWN_PATH}`)];
  const isProtected = [me, friends].every((response) => response.status === 401 && isJsonError(response));
  if (isProtected && unknown.status === 404 && isJsonError(unknown)) return;
  throw new CommandError(`${baseUrl} ${describeMismatch(me)}`);
}

function describeMismatch({ status, headers }: ReceivedResponse): string {
  const target = status >= 300 && status < 400 && headers.get('location');
  if (target) return `redirects to ${target}: give that address as --base-url`;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no type';
  return `is not an implementation of this contract: GET /auth/me returned ${status} with ${type}, where 401 with application/json is expected`;
}
