import { fastifyCookie } from '@fastify/cookie';
import type { App } from '../app.js';
import { SESSION_COOKIE } from './authenticate.js';

type Headers = Record<string, string>;

const attributes = ({ publicUrl }: App) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/', secure: publicUrl.protocol === 'https:' }) as const;

export function sessionCookie(app: App, token: string, expires: Date): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, token, { ...attributes(app), expires }) };
}

/** Sent whenever the session that asks ends. */
export function clearedSessionCookie(app: App): Headers {
  return { 'Set-Cookie': fastifyCookie.serialize(SESSION_COOKIE, '', { ...attributes(app), maxAge: 0 }) };
}
