import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { type ContractOperation, contract, document, methodAndPath } from '../document.js';
import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectErrorShape, expectProblems, expectThat } from '../expect.js';
import {
  CROSS_SITE,
  claimsOf,
  contentType,
  OTHER_ORIGIN,
  publish,
  textForm,
  UNUSED_ID,
  visibilityFixture,
  WRONG_PASSWORD,
  withCookie,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';
import { exampleBody, validRequest } from './operations.js';

const TEXT_BODY: RequestOptions = { body: 'hello', headers: contentType('text/plain') };
const isSafe = ({ method }: ContractOperation) => method === 'GET';

const getUser = (users: TestUsers) => users.sharedUser('rejected requests');

/** Returns the options with additional headers. */
const withHeaders = ({ headers, ...sent }: RequestOptions, additional: Record<string, string>): RequestOptions => ({
  ...sent,
  headers: { ...headers, ...additional },
});

/** Requests that must be rejected for several reasons, with the status that takes precedence. */
interface OrderCase {
  id: string;
  description: string;
  status: number;
  applies(operation: ContractOperation): boolean;
  send(users: TestUsers, operation: ContractOperation): Promise<[request: string, sent: RequestOptions][]>;
}

const UNKNOWN_QUERY = ['page=1'];

const ORDER_CASES: OrderCase[] = [
  {
    id: 'credentials-before-cross-site',
    description: 'a cross-site request with missing or invalid credentials returns 401',
    status: 401,
    applies: (operation) => operation.secured && !isSafe(operation),
    send: async (_, operation) => [
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE }],
      [validRequest(operation), withCookie('stale', CROSS_SITE)],
      [
        validRequest(operation),
        { ...exampleBody(operation), headers: { ...CROSS_SITE, Authorization: 'Bearer stale' } },
      ],
    ],
  },
  {
    id: 'credentials-before-media-type-and-fields',
    description: 'a request with missing or invalid credentials returns 401 regardless of its media type and fields',
    status: 401,
    applies: ({ secured }) => secured,
    send: async (_, operation) => [
      [validRequest(operation, UNKNOWN_QUERY), TEXT_BODY],
      [validRequest(operation, UNKNOWN_QUERY), withHeaders(TEXT_BODY, { Authorization: 'Bearer stale' })],
    ],
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    description: 'a cross-site request authenticated only by the cookie returns 403 regardless of its query and body',
    status: 403,
    applies: (operation) => operation.secured && !isSafe(operation),
    async send(users, operation) {
      const { token } = await getUser(users);
      const { headers = {} } = withCookie(token, CROSS_SITE);
      return [
        [validRequest(operation, UNKNOWN_QUERY), { ...exampleBody(operation), headers }],
        [validRequest(operation), withHeaders(TEXT_BODY, headers)],
        [`${operation.method} ${operation.path.replace(/\{\w+\}/, 'x')}`, { headers }],
      ];
    },
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    description: 'a cross-site request returns 403 regardless of its query and body, even without credentials',
    status: 403,
    applies: ({ secured }) => !secured,
    send: async (_, operation) => [
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE }],
      [validRequest(operation, UNKNOWN_QUERY), withHeaders(TEXT_BODY, CROSS_SITE)],
    ],
  },
  {
    id: 'media-type-before-fields',
    description: 'a body of an unsupported media type returns 415 regardless of the query',
    status: 415,
    applies: ({ requestBody }) => requestBody !== undefined,
    async send(users, operation) {
      const token = operation.secured ? (await getUser(users)).token : undefined;
      return [
        [validRequest(operation, UNKNOWN_QUERY), { ...TEXT_BODY, token }],
        [`${operation.method} ${operation.path}?id=x`, { ...TEXT_BODY, token }],
      ];
    },
  },
  {
    id: 'fields-before-existence',
    description: 'an invalid query returns 400 even if the post, user, session or image does not exist',
    status: 400,
    applies: ({ query, pathParameters, secured }) => secured && (query.length > 0 || pathParameters.length > 0),
    async send(users, operation) {
      const { token } = await getUser(users);
      const request = validRequest(operation, UNKNOWN_QUERY);
      return [[request, { ...exampleBody(operation), token }]];
    },
  },
];

const orderRules = ORDER_CASES.flatMap((orderCase) =>
  contract.filter(orderCase.applies).map((operation) =>
    rule(
      `order.${orderCase.id}.${operation.id}`,
      `${methodAndPath(operation)}: ${orderCase.description}.`,
      async (users) => {
        const requests = await orderCase.send(users, operation);
        await Promise.all(
          requests.map(async ([request, sent]) =>
            expectErrorShape(await users.anonymous.send(orderCase.status, request, sent)),
          ),
        );
      },
    ),
  ),
);

const unsafe = contract.filter((operation) => !isSafe(operation));

/** Headers of requests from the service's own origin, or from clients other than browsers. */
const SAME_ORIGIN: [description: string, headers: (users: TestUsers) => Record<string, string>][] = [
  ['an Origin of the host that the request is for', ({ origin }) => ({ Origin: origin })],
  ['Sec-Fetch-Site: same-origin', ({ origin }) => ({ Origin: origin, 'Sec-Fetch-Site': 'same-origin' })],
  ['Sec-Fetch-Site: none', () => ({ 'Sec-Fetch-Site': 'none' })],
  ['neither header', () => ({})],
];
const CROSS_ORIGIN: [description: string, headers: (users: TestUsers) => Record<string, string>][] = [
  ['an Origin of another host', () => ({ Origin: OTHER_ORIGIN })],
  ['the Origin null', () => ({ Origin: 'null' })],
  ['an Origin that only begins like the host', ({ origin }) => ({ Origin: `${origin}.elsewhere.example` })],
  ['Sec-Fetch-Site: cross-site', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
  ['Sec-Fetch-Site: same-site', () => ({ 'Sec-Fetch-Site': 'same-site' })],
];

const siteRules = unsafe.map((operation) =>
  rule(
    `sites.${operation.id}`,
    `${methodAndPath(operation)} without an Authorization header returns 403 if the request is cross-origin, and is allowed from the service’s own origin and from clients other than browsers. With the header it is allowed from every origin.`,
    async (users) => {
      const credentials = operation.secured ? withCookie((await getUser(users)).token).headers : {};
      // A 400 for the unknown query parameter shows that the origin is allowed.
      const request = validRequest(operation, UNKNOWN_QUERY);
      const send = (status: number, headers: Record<string, string>, token?: string) =>
        users.anonymous.send(status, request, { ...exampleBody(operation), token, headers });
      await Promise.all([
        ...SAME_ORIGIN.map(([, headers]) => send(400, { ...credentials, ...headers(users) })),
        ...CROSS_ORIGIN.map(([, headers]) => send(403, { ...credentials, ...headers(users) })),
      ]);
      if (!operation.secured) return;
      const { token } = await getUser(users);
      await send(400, CROSS_SITE, token);
    },
  ),
);

const safeRules = contract
  .filter((operation) => operation.secured && isSafe(operation))
  .map((operation) =>
    rule(
      `sites.${operation.id}`,
      `${methodAndPath(operation)} changes nothing, so it is allowed from every origin, even with the cookie.`,
      async (users) => {
        const { token } = await getUser(users);
        await users.anonymous.send([200, 404], validRequest(operation), withCookie(token, CROSS_SITE));
      },
    ),
  );

/** A 400 for the unknown query parameter shows that the origin is allowed. One operation is enough. */
const headerRule = rule(
  'sites.headers',
  'Sec-Fetch-Site takes precedence over Origin: same-origin and none are allowed. Without it, an Origin with the host and port of Host is allowed, with any scheme. HEAD and OPTIONS are always allowed.',
  async (users) => {
    const { token } = await getUser(users);
    const { host, hostname, protocol } = new URL(users.origin);
    const otherScheme = protocol === 'http:' ? 'https:' : 'http:';
    const send = (status: number, headers: Record<string, string>) =>
      users.anonymous.send(status, 'DELETE /auth/sessions?page=1', withCookie(token, headers));
    await Promise.all([
      send(400, { 'Sec-Fetch-Site': 'same-origin', Origin: OTHER_ORIGIN }),
      send(403, { 'Sec-Fetch-Site': 'cross-site', Origin: `${otherScheme}//${host}` }),
      send(400, { Origin: `${otherScheme}//${host}` }),
      send(403, { 'Sec-Fetch-Site': 'friendly' }),
      send(403, { 'Sec-Fetch-Site': '' }),
      send(403, { Origin: `${protocol}//${hostname}:1` }),
      send(403, { Origin: host }),
      send(403, { Origin: `${users.origin}, ${OTHER_ORIGIN}` }),
      send(401, { ...CROSS_SITE, Authorization: '' }),
      users.anonymous.send(200, 'HEAD /posts', withCookie(token, CROSS_SITE)),
      users.anonymous.send(204, 'OPTIONS /posts/create', withCookie(token, CROSS_SITE)),
    ]);
  },
);

/** Returns the attributes of the cookie in a response, without its value and expiry. */
const attributesOf = (response: CheckedResponse): string[] =>
  (response.headers.get('set-cookie') ?? '')
    .split(/; */)
    .slice(1)
    .map((attribute) => attribute.toLowerCase())
    .filter((attribute) => !/^(expires|max-age)=/.test(attribute))
    .sort();

interface Login {
  user: User;
  token: string;
  session: string;
}

const ENDINGS_OF_CURRENT_SESSION: [
  id: string,
  description: string,
  endSession: (users: TestUsers, login: Login) => Promise<CheckedResponse>,
][] = [
  [
    'logout',
    'POST /auth/logout',
    (users, { token }) => users.anonymous.send(200, 'POST /auth/logout', withCookie(token)),
  ],
  [
    'session',
    'DELETE /auth/sessions/{id} of the current session',
    (users, { token, session }) => users.anonymous.send(200, `DELETE /auth/sessions/${session}`, { token }),
  ],
  [
    'password',
    'PUT /profiles/me with a new password',
    (users, { token, user: { password: current_password } }) => {
      const form = { password: users.newUser().password, current_password };
      return users.anonymous.send(200, 'PUT /profiles/me', { token, form });
    },
  ],
  [
    'account',
    'DELETE /profiles/me',
    (users, { token, user: { password } }) =>
      users.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } }),
  ],
];

const clearedCookieRules = ENDINGS_OF_CURRENT_SESSION.map(([id, description, endSession]) =>
  rule(
    `cookie.cleared.${id}`,
    `${description} clears the cookie with the attributes that it was set with. The token of the session is then rejected in the header and in the cookie.`,
    async (users) => {
      const user = await users.register();
      const login = await users.login(user);
      const token: string = login.body.token;
      const session = claimsOf(token).jti;
      const response = await endSession(users, { user, token, session });
      const cookie = response.headers.get('set-cookie') ?? '';
      expectThat(/^fc_session_token=(""|);/.test(cookie), 'an empty cookie fc_session_token', response);
      expectThat(/max-age=0\b|expires=thu, 01 jan 1970/i.test(cookie), 'an expired cookie', response);
      expectEqual(response, 'the attributes, as they were set', attributesOf(response), attributesOf(login));
      for (const attribute of ['httponly', 'path=/', 'samesite=lax']) {
        expectThat(attributesOf(login).includes(attribute), attribute, login);
      }
      await users.anonymous.send(401, 'GET /auth/me', { token });
      await users.anonymous.send(401, 'GET /auth/me', withCookie(token));
    },
  ),
);

const ENDINGS_OF_OTHER_SESSIONS: [id: string, description: string, request: (login: Login) => string][] = [
  ['others', 'DELETE /auth/sessions', () => 'DELETE /auth/sessions'],
  ['another', 'DELETE /auth/sessions/{id} of another session', ({ session }) => `DELETE /auth/sessions/${session}`],
];

const keptCookieRules = ENDINGS_OF_OTHER_SESSIONS.map(([id, description, request]) =>
  rule(`cookie.kept.${id}`, `${description} does not affect the cookie and the current session.`, async (users) => {
    const user = await users.register();
    const token: string = (await users.login(user)).body.token;
    const session = claimsOf(token).jti;
    const response = await user.send(200, request({ user, token, session }));
    expectThat(!response.headers.has('set-cookie'), 'no Set-Cookie', response);
    await user.send(200, 'GET /auth/me');
    await users.anonymous.send(401, 'GET /auth/me', { token });
  }),
);

const documentRules = [
  rule(
    'document.json',
    'GET /openapi.json returns the OpenAPI document that the contract tests check against.',
    async (users) => {
      const response = await users.anonymous.send(200, 'GET /openapi.json');
      expectThat(
        isDeepStrictEqual(response.body, document),
        'the document that the contract tests check against',
        response,
      );
    },
  ),

  rule('document.yaml', 'GET /openapi.yaml returns the same document as GET /openapi.json.', async (users) => {
    const response = await users.anonymous.send(200, 'GET /openapi.yaml');
    expectThat(
      isDeepStrictEqual(parse(response.bytes.toString()), document),
      'the document that the contract tests check against',
      response,
    );
  }),
];

/** One request for each kind of error. */
const MESSAGES: [
  id: string,
  description: string,
  status: number,
  send: (users: TestUsers) => Promise<[request: string, sent: RequestOptions]>,
][] = [
  [
    '400',
    'an invalid field',
    400,
    async (users) => ['POST /posts/create', { token: (await getUser(users)).token, form: { title: '' } }],
  ],
  ['401', 'missing credentials', 401, async () => ['GET /posts', {}]],
  [
    '401.login',
    'a failed login',
    401,
    async () => ['POST /auth/login', { json: { email: 'unknown@example.org', password: 'x' } }],
  ],
  [
    '403',
    'a cross-site request',
    403,
    async (users) => ['POST /posts/like?id=1', withCookie((await getUser(users)).token, CROSS_SITE)],
  ],
  [
    '404.post',
    'a missing post',
    404,
    async (users) => [`GET /posts/${UNUSED_ID}`, { token: (await getUser(users)).token }],
  ],
  ['404.route', 'an unknown path', 404, async () => ['GET /no-such-path', {}]],
  [
    '404.user',
    'a missing user',
    404,
    async (users) => [`GET /profiles/${UNUSED_ID}`, { token: (await getUser(users)).token }],
  ],
  [
    '404.session',
    'a missing session',
    404,
    async (users) => ['DELETE /auth/sessions/x', { token: (await getUser(users)).token }],
  ],
  [
    '404.image',
    'a missing image',
    404,
    async (users) => ['GET /posts/image/x.png', { token: (await getUser(users)).token }],
  ],
  ['405', 'an unsupported method', 405, async () => ['PATCH /posts', {}]],
  [
    '409',
    'a friend request to a friend',
    409,
    async (users) => {
      const { viewers, owned } = await visibilityFixture(users);
      return [`POST /friends/request?to=${owned.public.owner.id}`, { token: viewers.friend.token }];
    },
  ],
  [
    '413',
    'a body that is too large',
    413,
    async () => ['POST /auth/login', { json: { email: 'x'.repeat(70_000), password: 'x' } }],
  ],
  ['415', 'an unsupported media type', 415, async () => ['POST /auth/login', TEXT_BODY]],
];

const messageRules = MESSAGES.map(([id, description, status, send]) =>
  rule(
    `errors.message.${id}`,
    `The ${status} for ${description} is application/json with a non-empty message, and each of its errors, if any, has a non-empty message too.`,
    async (users) => {
      const response = expectErrorShape(await users.anonymous.send(status, ...(await send(users))));
      for (const { message } of response.body.errors ?? []) {
        expectThat(typeof message === 'string' && message.trim() !== '', 'a message for each problem', response);
      }
      expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
    },
  ),
);

const expectMessage = (response: CheckedResponse) => {
  expectEqual(response, 'the fields', Object.keys(response.body), ['message']);
  expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
};

const successRules = [
  rule(
    'messages.actions',
    'Likes, friend operations, logouts and deletions return 200 with a non-empty message.',
    async (users) => {
      const [one, other] = await Promise.all([users.register(), users.register()]);
      const { id } = await publish(one);
      for (const [{ send }, request] of [
        [other, `POST /posts/like?id=${id}`],
        [other, `DELETE /posts/like?id=${id}`],
        [one, `POST /friends/request?to=${other.id}`],
        [one, `POST /friends/cancel?to=${other.id}`],
        [one, `POST /create_relationship?me=${one.id}&them=${other.id}`],
        [other, `POST /friends/decline?from=${one.id}`],
        [one, `POST /friends/request?to=${other.id}`],
        [other, `POST /friends/accept?from=${one.id}`],
        [other, `DELETE /friends/remove?id=${one.id}`],
        [one, `DELETE /posts/delete?id=${id}`],
        [one, 'DELETE /auth/sessions'],
        [one, 'POST /auth/logout'],
      ] as const) {
        expectMessage(await send(200, request));
      }
      const { password } = other;
      expectMessage(await other.send(200, 'DELETE /profiles/me', { json: { password } }));
    },
  ),

  rule(
    'order.fields-before-password',
    'Invalid fields return 400 even if the password is wrong, and nothing changes.',
    async (users) => {
      const { token } = await getUser(users);
      for (const form of [
        { name: '' },
        { username: 'a b' },
        { email: 'x' },
        { private: 'x' },
        { extra: '1' },
      ] as Record<string, string>[]) {
        const response = await users.anonymous.send(400, 'PUT /profiles/me', {
          token,
          ...textForm({ ...form, current_password: WRONG_PASSWORD }),
        });
        expectProblems(response, `body.${Object.keys(form)[0]}`);
      }
      expectProblems(
        await users.anonymous.send(400, 'DELETE /profiles/me', { token, json: { password: WRONG_PASSWORD, extra: 1 } }),
        'body.extra',
      );
      expectProblems(
        await users.anonymous.send(400, 'DELETE /profiles/me?page=1', { token, json: { password: WRONG_PASSWORD } }),
        'query.page',
      );
      expectProblems(
        await users.anonymous.send(400, 'POST /auth/login?page=1', { json: { email: 'x', password: WRONG_PASSWORD } }),
        'query.page',
      );
    },
  ),

  rule(
    'order.password-before-conflict',
    'A wrong current_password returns 401 Invalid password even if the username or email is taken, regardless of the other fields.',
    async (users) => {
      const { token } = await getUser(users);
      const { username, email } = await users.sharedUser('ada');
      const before = await users.anonymous.send(200, 'GET /auth/me', { token });
      for (const form of [
        { username },
        { email },
        { name: 'Changed' },
        { private: 'true' },
        { remove_image: 'true' },
      ] as Record<string, string>[]) {
        const sent = textForm({ ...form, current_password: WRONG_PASSWORD });
        const response = await users.anonymous.send(401, 'PUT /profiles/me', { token, ...sent });
        expectEqual(response, 'the message', response.body.message, 'Invalid password');
      }
      const after = await users.anonymous.send(200, 'GET /auth/me', { token });
      expectEqual(after, 'the account, unchanged', after.body, before.body);
      const profile = await users.anonymous.send(200, 'GET /profiles/me', { token });
      expectEqual(profile, 'private, unchanged', profile.body.private, false);
    },
  ),

  rule(
    'order.fields-before-conflict',
    'Invalid fields return 400 even if the username or email is taken.',
    async (users) => {
      const { username, email } = await users.sharedUser('ada');
      const { token } = await getUser(users);
      const json = { ...users.newUser(), username, email, name: ' ' };
      expectProblems(await users.anonymous.send(400, 'POST /auth/register', { json }), 'body.name');
      expectProblems(
        await users.anonymous.send(400, 'POST /auth/register?page=1', { json: { ...json, name: 'A' } }),
        'query.page',
      );
      const form = textForm({ username, name: ' ' });
      expectProblems(await users.anonymous.send(400, 'PUT /profiles/me', { token, ...form }), 'body.name');
    },
  ),

  rule(
    'order.method-before-credentials',
    'An unknown path returns 404, and an unsupported method 405 with Allow, regardless of credentials, origin and body.',
    async (users) => {
      const { token } = await getUser(users);
      for (const sent of [
        {},
        { token },
        { token: 'stale' },
        TEXT_BODY,
        { headers: CROSS_SITE },
        withCookie(token, CROSS_SITE),
      ] as RequestOptions[]) {
        await users.anonymous.send(404, 'POST /no-such-path', sent);
        const response = await users.anonymous.send(405, 'POST /auth/me?page=1', sent);
        expectThat(response.headers.has('allow'), 'Allow', response);
        await users.anonymous.send(405, 'GET /posts/create', sent);
      }
    },
  ),

  rule(
    'credentials.twice',
    'Two session cookies without an Authorization header return 401. With a valid header, cookies are ignored.',
    async (users) => {
      const { token, id } = await getUser(users);
      const Cookie = `fc_session_token=${token}; fc_session_token=${token}`;
      await users.anonymous.send(401, 'GET /auth/me', { headers: { Cookie } });
      const response = await users.anonymous.send(200, 'GET /auth/me', { token, headers: { Cookie } });
      expectEqual(response, 'the account', response.body.id, id);
      const others = `fc_session_token=${token}; x_fc_session_token=1; theme=fc_session_token`;
      await users.anonymous.send(200, 'GET /auth/me', { headers: { Cookie: others } });
    },
  ),

  rule('credentials.ignored', 'Registration and login ignore credentials, even invalid ones.', async (users) => {
    const stale = { Authorization: 'Bearer stale', Cookie: 'fc_session_token=stale' };
    await users.login(await getUser(users), stale);
    await users.anonymous.send(400, 'POST /auth/register', { json: {}, headers: stale });
  }),

  rule(
    'credentials.scheme',
    'The scheme Bearer is compared ignoring case. Other schemes, and a token with additional characters, return 401.',
    async (users) => {
      const { token } = await getUser(users);
      for (const Authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`]) {
        await users.anonymous.send(200, 'GET /auth/me', { headers: { Authorization } });
      }
      for (const Authorization of [
        token,
        `Token ${token}`,
        `Basic ${token}`,
        `Bearer ${token}x`,
        `Bearer ${token} x`,
        'Bearer',
        `Bearer ${token.slice(0, -3)}`,
        `Bearer "${token}"`,
        `Bearer${token}`,
        `Bearer:${token}`,
        `Bearer\t${token}`,
        `Bearer token=${token}`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer ${'x'.repeat(8000)}`,
      ]) {
        for (const cookie of [{}, withCookie(token).headers]) {
          const response = await users.anonymous.send(401, 'GET /auth/me', { headers: { Authorization, ...cookie } });
          expectThat(
            /^Bearer\b/.test(response.headers.get('www-authenticate') ?? ''),
            'WWW-Authenticate: Bearer',
            response,
          );
        }
      }
    },
  ),
];

export const refusals: Subject = {
  name: 'Order of checks, origins and cookies',
  rules: [
    ...orderRules,
    ...siteRules,
    ...safeRules,
    headerRule,
    ...clearedCookieRules,
    ...keptCookieRules,
    ...documentRules,
    ...messageRules,
    ...successRules,
  ],
};
