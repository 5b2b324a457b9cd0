import { fastifyCookie } from '@fastify/cookie';
import type { AppContext } from './context.js';
import type { Client } from './operation.js';

export const SESSION_COOKIE = 'fc_session_token';

type Headers = Record<string, string>;

/** Returns the attributes of the session cookie. It is `Secure` if the request came over https or the public URL is https. */
const attributesOf = ({ config }: AppContext, { https }: Client) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/', secure: https || config.publicUrl.protocol === 'https:' }) as const;

/** Returns the header that sets the session cookie. */
export function sessionCookie(context: AppContext, client: Client, token: string, expires: Date): Headers {
  return {
    'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, token, { ...attributesOf(context, client), expires }),
  };
}

/** Returns the header that deletes the session cookie. Every operation that ends the current session sends it. */
export function clearedSessionCookie(context: AppContext, client: Client): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, '', { ...attributesOf(context, client), maxAge: 0 }) };
}
