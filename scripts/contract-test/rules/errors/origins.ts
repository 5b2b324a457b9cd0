import { contract, methodAndPath } from '../../client/index.js';
import { CROSS_SITE, OTHER_ORIGIN, withCookie } from '../../fixtures.js';
import { requireOwnParser } from '../http-parsing.js';
import { exampleBody, validRequest } from '../operations.js';
import { startSession } from '../session.js';
import { isSafe, UNKNOWN_QUERY, userRule } from './requests.js';

type HeaderSet = Record<string, string>;

/** Returns headers of requests from the service's own origin, from the user (`none`), and from clients other than browsers. */
const allowedHeaders = (origin: string): HeaderSet[] => [
  { Origin: origin },
  { Origin: origin, 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  {},
];

const crossOriginHeaders = (origin: string): HeaderSet[] => [
  { Origin: OTHER_ORIGIN },
  { Origin: 'null' },
  { Origin: `${origin}.elsewhere.example` },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
];

const unsafeOriginRules = contract
  .filter((operation) => !isSafe(operation))
  .map((operation) =>
    userRule(
      `sites.${operation.id}`,
      `${methodAndPath(operation)} without an Authorization header returns 403 if the request is cross-origin, and is allowed from the service’s own origin and from clients other than browsers. With the header, it is allowed from every origin, even if it also has the cookie.`,
      async (user, users) => {
        // A logout ends the session if the service accepts the unknown query parameter.
        const { token } = operation.id === 'logout' ? await startSession(users, user) : user;
        const credentials = operation.requiresAuthentication ? withCookie(token).headers : {};
        // A 400 for the unknown query parameter shows that the origin is allowed.
        const request = validRequest(operation, UNKNOWN_QUERY);
        const send = (status: number, headers: HeaderSet, token?: string) =>
          users.anonymous.send(status, request, { ...exampleBody(operation), token, headers });
        await Promise.all([
          ...allowedHeaders(users.origin).map((headers) => send(400, { ...credentials, ...headers })),
          ...crossOriginHeaders(users.origin).map((headers) => send(403, { ...credentials, ...headers })),
        ]);
        await send(400, { ...credentials, ...CROSS_SITE }, token);
      },
    ),
  );

const safeOriginRules = contract
  .filter((operation) => operation.requiresAuthentication && isSafe(operation))
  .map((operation) =>
    userRule(
      `sites.${operation.id}`,
      `${methodAndPath(operation)} changes nothing, so it is allowed from every origin, even with the cookie.`,
      async ({ token }, users) => {
        await users.anonymous.send([200, 404], validRequest(operation), withCookie(token, CROSS_SITE));
      },
    ),
  );

/** A 400 for `page` shows that the origin is allowed. One operation is enough. */
const originHeaderRule = userRule(
  'sites.headers',
  'Sec-Fetch-Site takes precedence over Origin: same-origin and none are allowed. Without it, an Origin with the host and port of Host is allowed, with any scheme. HEAD and OPTIONS are always allowed.',
  async ({ token }, users) => {
    const { host, hostname, protocol } = new URL(users.origin);
    const otherScheme = protocol === 'http:' ? 'https:' : 'http:';
    const send = (status: number, headers: HeaderSet) =>
      users.anonymous.send(status, 'DELETE /auth/sessions?page=1', withCookie(token, headers));
    await Promise.all([
      send(400, { 'Sec-Fetch-Site': 'same-origin', Origin: OTHER_ORIGIN }),
      send(400, { 'Sec-Fetch-Site': 'none', Origin: OTHER_ORIGIN }),
      send(403, { 'Sec-Fetch-Site': 'cross-site', Origin: `${otherScheme}//${host}` }),
      send(400, { Origin: `${otherScheme}//${host}` }),
      send(403, { 'Sec-Fetch-Site': 'friendly' }),
      send(403, { 'Sec-Fetch-Site': '' }),
      send(403, { Origin: `${protocol}//${hostname}:1` }),
      send(403, { Origin: host }),
      send(403, { Origin: `${users.origin}, ${OTHER_ORIGIN}` }),
      send(401, { ...CROSS_SITE, Authorization: '' }),
      send(403, { Origin: OTHER_ORIGIN, 'X-Forwarded-Host': new URL(OTHER_ORIGIN).host }),
      send(400, { Origin: users.origin, 'X-Forwarded-Host': new URL(OTHER_ORIGIN).host }),
      users.anonymous.send(200, 'HEAD /posts', withCookie(token, CROSS_SITE)),
      users.anonymous.send(204, 'OPTIONS /posts/create', withCookie(token, CROSS_SITE)),
    ]);
  },
);

/** Hosts other than the service's own, which a gateway would not route to it. */
const hostRule = userRule(
  'sites.host',
  'An Origin is compared with Host regardless of case, and with the default port of its scheme: https://example.org is the same as the hosts example.org:443 and EXAMPLE.org, but not as example.org:80.',
  async ({ token }, users) => {
    await requireOwnParser(users);
    for (const [status, Origin, Host] of [
      [400, 'https://example.org', 'example.org:443'],
      [400, 'http://example.org', 'example.org:80'],
      [400, 'https://example.org', 'EXAMPLE.org'],
      [400, 'http://[2001:db8::1]:3000', '[2001:DB8::1]:3000'],
      [403, 'https://example.org', 'example.org:80'],
      [403, 'http://example.org', 'example.org:443'],
      [403, 'https://example.org:8443', 'example.org'],
      [403, 'https://example.org', 'example.org.elsewhere.example'],
      [403, 'file://', 'localhost'],
    ] as const)
      await users.anonymous.send(status, 'DELETE /auth/sessions?page=1', withCookie(token, { Origin, Host }));
  },
);

export const originRules = [...unsafeOriginRules, ...safeOriginRules, originHeaderRule, hostRule];
