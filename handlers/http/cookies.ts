import { fastifyCookie } from '@fastify/cookie';
import type { Client } from '../../generated/handlers.js';
import type { App } from '../context.js';
import { SESSION_COOKIE } from './authenticate.js';

type Headers = Record<string, string>;

/** `Secure` keeps the cookie off plain http. A proxy that speaks TLS may be known by its forwarded headers alone. */
const attributes = ({ publicUrl }: App, { https }: Client) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/', secure: https || publicUrl.protocol === 'https:' }) as const;

export function sessionCookie(app: App, client: Client, token: string, expires: Date): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, token, { ...attributes(app, client), expires }) };
}

/** Sent whenever the session that asks ends. */
export function clearedSessionCookie(app: App, client: Client): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, '', { ...attributes(app, client), maxAge: 0 }) };
}
