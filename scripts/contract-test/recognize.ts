import { PlainError } from '../plain-error.js';
import type { Client, Send } from './client.js';
import type { ReceivedResponse } from './exchange.js';

const UNKNOWN_PATH = '/contract-test/no-such-path';

const isJsonError = ({ body }: ReceivedResponse) => typeof body === 'object' && typeof body?.message === 'string';

/** A login without fields is refused in a shape of its own: `errors`, each with `in` and `field`. */
function namesLoginFields({ status, body }: ReceivedResponse): boolean {
  if (status !== 400 || !Array.isArray(body?.errors)) return false;
  const named = body.errors.map((problem: { in?: string; field?: string }) => `${problem?.in}.${problem?.field}`);
  return named.includes('body.email') && named.includes('body.password');
}

/**
 * Asks for little, without credentials, to see whether this is an implementation of the contract, however faulty. It is, if
 * it refuses an empty login as the contract says, or if it protects the contract's paths and knows them from others.
 *
 * @throws PlainError otherwise
 */
export async function recognize({ send, baseUrl }: Client): Promise<void> {
  const askAvailable = async (...[request, sent]: Parameters<Send>) => {
    const answer = await send(request, sent);
    if (answer.status !== 429 && answer.status !== 503) return answer;
    throw new PlainError(`${baseUrl} responds with ${answer.status} to ${request}: try again later`);
  };
  const login = await askAvailable('POST /auth/login', { json: {} });
  const me = await askAvailable('GET /auth/me');
  if (namesLoginFields(login)) return;
  const [friends, unknown] = [await askAvailable('GET /friends'), await askAvailable(`GET ${UNKNOWN_PATH}`)];
  const isProtected = [me, friends].every((answer) => answer.status === 401 && isJsonError(answer));
  if (isProtected && unknown.status === 404 && isJsonError(unknown)) return;
  throw new PlainError(`${baseUrl} ${describeOther(me)}`);
}

function describeOther({ status, headers }: ReceivedResponse): string {
  const target = status >= 300 && status < 400 && headers.get('location');
  if (target) return `redirects to ${target}: give that address as --base-url`;
  const type = headers.get('content-type')?.split(';')[0] ?? 'no type';
  return `is not an implementation of this contract: GET /auth/me returned ${status} with ${type}, where 401 with application/json is expected`;
}
