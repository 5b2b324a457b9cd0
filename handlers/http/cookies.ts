import { fastifyCookie } from '@fastify/cookie';
import type { AppContext } from '../context.js';
import type { Client } from '../operation.js';
import { SESSION_COOKIE } from './authenticate.js';

type Headers = Record<string, string>;

/** `Secure` keeps the cookie off plain http. A proxy that speaks TLS may be known by its forwarded headers alone. */
const attributes = ({ publicUrl }: AppContext, { https }: Client) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/', secure: https || publicUrl.protocol === 'https:' }) as const;

export function sessionCookie(context: AppContext, client: Client, token: string, expires: Date): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, token, { ...attributes(context, client), expires }) };
}

/** Sent whenever the session that asks ends. */
export function clearedSessionCookie(context: AppContext, client: Client): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, '', { ...attributes(context, client), maxAge: 0 }) };
}
