import { expectCode, expectErrorShape, expectProblems, expectThat, SkippedError } from '../expect.js';
import { type Rule, rule } from '../rule.js';
import type { TestUsers } from '../users.js';

/** Returns whether another server, such as a gateway, parses requests before the service does. */
export async function isBehindGateway({ anonymous }: TestUsers): Promise<boolean> {
  // Valid HTTP reaches the service, which sends this response itself.
  const ownResponse = expectErrorShape(await anonymous.send(404, 'GET /none'));
  const { headers } = await anonymous.send(400, 'GET /none', { headers: { 'Content-Length': 'x' } });
  // A gateway names itself in a header or describes the error in another format. A service that only lacks an error handler
  // does neither, so the rules are not skipped for it.
  const isNamed = ['server', 'via'].some((name) => headers.get(name) !== ownResponse.headers.get(name));
  const type = headers.get('content-type') ?? '';
  return isNamed || (type !== '' && !type.startsWith('application/json'));
}

/** Throws SkippedError if another server parses requests. */
export async function requireOwnParser(users: TestUsers): Promise<void> {
  if (await isBehindGateway(users)) throw new SkippedError('another server responds to invalid HTTP');
}

/** Rules about requests that the HTTP parser rejects or that repeat a header. */
export const parsingRules: Rule[] = [
  rule(
    'http.errors.invalid-http',
    'A request that is not valid HTTP returns 400, and headers that are too large return 431, with a JSON error body and an X-Request-Id.',
    async (users) => {
      await requireOwnParser(users);
      for (const [status, code, headers] of [
        [400, 'invalid_http', { 'Content-Length': 'x' }],
        [400, 'invalid_http', { 'Content-Length': '1', 'Transfer-Encoding': 'chunked' }],
        [431, 'headers_too_large', { 'X-Large': 'x'.repeat(20_000) }],
      ] as [number, string, Record<string, string>][]) {
        const response = await users.anonymous.send(status, 'GET /none', { headers });
        expectCode(expectErrorShape(response), code);
        expectThat(response.headers.has('x-request-id'), 'an X-Request-Id', response);
      }
    },
  ),

  rule('http.headers.host-twice', 'Two Host headers return 400, even if they are equal.', async (users) => {
    await requireOwnParser(users);
    const { send } = await users.sharedUser('ada');
    const { host } = new URL(users.origin);
    for (const other of [host, 'elsewhere.example', '']) {
      const repeated: [string, ...string[]] = ['Host', host, other];
      expectProblems(await send(400, 'GET /auth/me', { repeated }), 'header.Host');
      expectProblems(await send(400, 'GET /none', { repeated }), 'header.Host');
    }
  }),

  rule(
    'http.headers.host-malformed',
    'A Host header that is not a host with an optional port returns 400.',
    async (users) => {
      await requireOwnParser(users);
      const { send } = await users.sharedUser('ada');
      for (const Host of [
        'a b',
        'user@example.org',
        'example.org/x',
        'example.org:x',
        'one.example, two.example',
        '[::1',
      ])
        expectProblems(await send(400, 'GET /auth/me', { headers: { Host } }), 'header.Host');
      for (const Host of ['example.org.', 'under_score:3000', '192.0.2.1:', '[::1]:3000'])
        await send(200, 'GET /auth/me', { headers: { Host } });
    },
  ),

  rule(
    'http.headers.authorization-twice',
    'Two Authorization headers return 401 invalid_token, even if they are equal.',
    async (users) => {
      await requireOwnParser(users);
      const valid = `Bearer ${(await users.sharedUser('ada')).token}`;
      for (const other of [valid, 'Bearer stale', 'Basic bWlyYTptaXJh', '']) {
        for (const values of [
          [valid, other],
          [other, valid],
        ]) {
          const response = await users.anonymous.send(401, 'GET /auth/me', { repeated: ['Authorization', ...values] });
          expectCode(response, 'invalid_token');
        }
      }
    },
  ),
];
