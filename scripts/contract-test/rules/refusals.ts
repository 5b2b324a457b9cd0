import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { type ContractOperation, contract } from '../document.js';
import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectErrorShape, expectProblems, expectStatus, expectThat } from '../expect.js';
import { audience, byCookie, NO_ID, publish, textForm } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';
import { bodyOf, sound } from './operations.js';

const nameOf = ({ method, path }: ContractOperation) => `${method} ${path}`;
const CROSS_SITE = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' };
const TEXT: RequestOptions = { body: 'hello', headers: { 'Content-Type': 'text/plain' } };
const isSafe = ({ method }: ContractOperation) => method === 'GET';

const user = (cast: TestUsers) => cast.sharedUser('refused');

/** A request with everything wrong that can be: what is refused first is told by the order. */
const withHeaders = ({ headers, ...sent }: RequestOptions, more: Record<string, string>): RequestOptions => ({
  ...sent,
  headers: { ...headers, ...more },
});

/** Two reasons to refuse a request, the one that comes first, and the operations to which both apply. */
interface Pair {
  id: string;
  says: string;
  wanted: number;
  applies(operation: ContractOperation): boolean;
  send(cast: TestUsers, operation: ContractOperation): Promise<[request: string, sent: RequestOptions][]>;
}

const UNKNOWN = ['page=1'];

const PAIRS: Pair[] = [
  {
    id: 'credentials-before-cross-site',
    says: 'Missing, malformed and refused credentials are 401 also for a request from another site',
    wanted: 401,
    applies: (operation) => operation.secured && !isSafe(operation),
    send: async (_, operation) => [
      [sound(operation), { ...bodyOf(operation), headers: CROSS_SITE }],
      [sound(operation), withHeaders(byCookie('stale', CROSS_SITE), {})],
      [sound(operation), { ...bodyOf(operation), headers: { ...CROSS_SITE, Authorization: 'Bearer stale' } }],
    ],
  },
  {
    id: 'credentials-before-media-type-and-fields',
    says: 'Missing and refused credentials are 401 whatever else is wrong with the request',
    wanted: 401,
    applies: ({ secured }) => secured,
    send: async (_, operation) => [
      [sound(operation, UNKNOWN), TEXT],
      [sound(operation, UNKNOWN), withHeaders(TEXT, { Authorization: 'Bearer stale' })],
    ],
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    says: 'A request from another site by cookie alone is 403 whatever its query and body',
    wanted: 403,
    applies: (operation) => operation.secured && !isSafe(operation),
    async send(cast, operation) {
      const { token } = await user(cast);
      const { headers = {} } = byCookie(token, CROSS_SITE);
      return [
        [sound(operation, UNKNOWN), { ...bodyOf(operation), headers }],
        [sound(operation), withHeaders(TEXT, headers)],
        [`${operation.method} ${operation.path.replace(/\{\w+\}/, 'x')}`, { headers }],
      ];
    },
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    says: 'A request from another site is 403 whatever its query and body, without credentials too',
    wanted: 403,
    applies: ({ secured }) => !secured,
    send: async (_, operation) => [
      [sound(operation), { ...bodyOf(operation), headers: CROSS_SITE }],
      [sound(operation, UNKNOWN), withHeaders(TEXT, CROSS_SITE)],
    ],
  },
  {
    id: 'media-type-before-fields',
    says: 'A body of a type that the operation does not take is 415 whatever its query',
    wanted: 415,
    applies: ({ requestBody }) => requestBody !== undefined,
    async send(cast, operation) {
      const token = operation.secured ? (await user(cast)).token : undefined;
      return [
        [sound(operation, UNKNOWN), { ...TEXT, token }],
        [`${operation.method} ${operation.path}?id=x`, { ...TEXT, token }],
      ];
    },
  },
  {
    id: 'fields-before-existence',
    says: 'What is wrong with the query is 400 also if the post, user, session or image does not exist',
    wanted: 400,
    applies: ({ query, inPath, secured }) => secured && (query.length > 0 || inPath.length > 0),
    async send(cast, operation) {
      const { token } = await user(cast);
      const request = sound(operation, UNKNOWN);
      return [[request, { ...bodyOf(operation), token }]];
    },
  },
];

const orderRules = PAIRS.flatMap((pair) =>
  contract.filter(pair.applies).map((operation) =>
    rule(`order.${pair.id}.${operation.id}`, `${pair.says}: ${nameOf(operation)}`, async (cast) => {
      const requests = await pair.send(cast, operation);
      await Promise.all(
        requests.map(async ([request, sent]) =>
          expectErrorShape(await cast.anonymous.send(pair.wanted, request, sent)),
        ),
      );
    }),
  ),
);

const unsafe = contract.filter((operation) => !isSafe(operation));

/** Headers of a browser on the service's own pages, or of a program. */
const OWN: [says: string, headers: (cast: TestUsers) => Record<string, string>][] = [
  ['an Origin of the host that the request is for', ({ origin }) => ({ Origin: origin })],
  ['Sec-Fetch-Site: same-origin', ({ origin }) => ({ Origin: origin, 'Sec-Fetch-Site': 'same-origin' })],
  ['Sec-Fetch-Site: none', () => ({ 'Sec-Fetch-Site': 'none' })],
  ['neither header', () => ({})],
];
const FOREIGN: [says: string, headers: (cast: TestUsers) => Record<string, string>][] = [
  ['an Origin of another host', () => ({ Origin: 'https://elsewhere.example' })],
  ['the Origin null', () => ({ Origin: 'null' })],
  ['an Origin that only begins like the host', ({ origin }) => ({ Origin: `${origin}.elsewhere.example` })],
  ['Sec-Fetch-Site: cross-site', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
  ['Sec-Fetch-Site: same-site', () => ({ 'Sec-Fetch-Site': 'same-site' })],
];

const siteRules = unsafe.map((operation) =>
  rule(
    `sites.${operation.id}`,
    `An unsafe request without an Authorization header is 403 if it comes from a page of another site, and passes from the own origin and from programs. With the header it passes from everywhere: ${nameOf(operation)}`,
    async (cast) => {
      const credentials = operation.secured ? byCookie((await user(cast)).token).headers : {};
      // Refused for its fields, if it passes.
      const request = sound(operation, UNKNOWN);
      const send = (wanted: number, headers: Record<string, string>, token?: string) =>
        cast.anonymous.send(wanted, request, { ...bodyOf(operation), token, headers });
      await Promise.all([
        ...OWN.map(([, headers]) => send(400, { ...credentials, ...headers(cast) })),
        ...FOREIGN.map(([, headers]) => send(403, { ...credentials, ...headers(cast) })),
      ]);
      if (!operation.secured) return;
      const { token } = await user(cast);
      await send(400, { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' }, token);
    },
  ),
);

const safeRules = contract
  .filter((operation) => operation.secured && isSafe(operation))
  .map((operation) =>
    rule(
      `sites.${operation.id}`,
      `A request that only reads passes from everywhere, by cookie too: ${nameOf(operation)}`,
      async (cast) => {
        const { token } = await user(cast);
        await cast.anonymous.send([200, 404], sound(operation), byCookie(token, CROSS_SITE));
      },
    ),
  );

/** Each request is refused for its query if it passes. All unsafe operations share the check. */
const headerRule = rule(
  'sites.headers',
  'Sec-Fetch-Site decides before Origin: same-origin and none pass. Without it an Origin passes whose host and port are those of Host, by any scheme. HEAD and OPTIONS pass always.',
  async (cast) => {
    const { token } = await user(cast);
    const { host, hostname, protocol } = new URL(cast.origin);
    const otherScheme = protocol === 'http:' ? 'https:' : 'http:';
    const send = (wanted: number, headers: Record<string, string>) =>
      cast.anonymous.send(wanted, 'DELETE /auth/sessions?page=1', byCookie(token, headers));
    await Promise.all([
      send(400, { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://elsewhere.example' }),
      send(403, { 'Sec-Fetch-Site': 'cross-site', Origin: `${otherScheme}//${host}` }),
      send(400, { Origin: `${otherScheme}//${host}` }),
      send(403, { 'Sec-Fetch-Site': 'friendly' }),
      send(403, { 'Sec-Fetch-Site': '' }),
      send(403, { Origin: `${protocol}//${hostname}:1` }),
      send(403, { Origin: host }),
      send(403, { Origin: `${cast.origin}, https://elsewhere.example` }),
      send(401, { ...CROSS_SITE, Authorization: '' }),
      cast.anonymous.send(200, 'HEAD /posts', byCookie(token, CROSS_SITE)),
      cast.anonymous.send(204, 'OPTIONS /posts/create', byCookie(token, CROSS_SITE)),
    ]);
  },
);

/** The attributes of a cookie without its value and its expiry. */
const attributesOf = (answer: CheckedResponse): string[] =>
  (answer.headers.get('set-cookie') ?? '')
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

const CLEARING: [id: string, says: string, end: (cast: TestUsers, login: Login) => Promise<CheckedResponse>][] = [
  ['logout', 'POST /auth/logout', (cast, { token }) => cast.anonymous.send(200, 'POST /auth/logout', byCookie(token))],
  [
    'session',
    'DELETE /auth/sessions/{id} of the current session',
    (cast, { token, session }) => cast.anonymous.send(200, `DELETE /auth/sessions/${session}`, { token }),
  ],
  [
    'password',
    'PUT /profiles/me with a new password',
    (cast, { token, user: { password: current_password } }) => {
      const form = { password: cast.newUser().password, current_password };
      return cast.anonymous.send(200, 'PUT /profiles/me', { token, form });
    },
  ],
  [
    'account',
    'DELETE /profiles/me',
    (cast, { token, user: { password } }) =>
      cast.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } }),
  ],
];

const cookieRules = CLEARING.map(([id, says, end]) =>
  rule(
    `cookie.cleared.${id}`,
    `${says} clears the cookie with the attributes it was set with, and ends the session for header and cookie alike.`,
    async (cast) => {
      const user = await cast.register();
      const login = await cast.login(user);
      const token: string = login.body.token;
      const session = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
      const answer = await end(cast, { user, token, session });
      const cookie = answer.headers.get('set-cookie') ?? '';
      expectThat(/^fc_session_token=(""|);/.test(cookie), 'an empty cookie fc_session_token', answer);
      expectThat(/max-age=0\b|expires=thu, 01 jan 1970/i.test(cookie), 'a cookie that has expired', answer);
      expectEqual(answer, 'the attributes, as they were set', attributesOf(answer), attributesOf(login));
      for (const attribute of ['httponly', 'path=/', 'samesite=lax']) {
        expectThat(attributesOf(login).includes(attribute), attribute, login);
      }
      await cast.anonymous.send(401, 'GET /auth/me', { token });
      await cast.anonymous.send(401, 'GET /auth/me', byCookie(token));
    },
  ),
);

const keeping: [id: string, request: (login: Login) => string][] = [
  ['others', () => 'DELETE /auth/sessions'],
  ['another', ({ session }) => `DELETE /auth/sessions/${session}`],
];

const keptRules = keeping.map(([id, request]) =>
  rule(`cookie.kept.${id}`, 'Ending other sessions leaves the cookie and the current session alone.', async (cast) => {
    const user = await cast.register();
    const token: string = (await cast.login(user)).body.token;
    const session = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
    const answer = await user.send(200, request({ user, token, session }));
    expectThat(!answer.headers.has('set-cookie'), 'no Set-Cookie', answer);
    await user.send(200, 'GET /auth/me');
    await cast.anonymous.send(401, 'GET /auth/me', { token });
  }),
);

const { resolve } = createRequire(import.meta.url);
const DOCUMENT = JSON.parse(readFileSync(resolve('#openapi.json'), 'utf8'));

const documentRules = [
  rule('document.json', 'GET /openapi.json serves the document that this kit checks against.', async (cast) => {
    const answer = await cast.anonymous.send(200, 'GET /openapi.json');
    expectThat(isDeepStrictEqual(answer.body, DOCUMENT), 'the document that this kit checks against', answer);
  }),

  rule('document.yaml', 'GET /openapi.yaml serves the same document as GET /openapi.json.', async (cast) => {
    const answer = await cast.anonymous.send(200, 'GET /openapi.yaml');
    expectThat(
      isDeepStrictEqual(parse(answer.bytes.toString()), DOCUMENT),
      'the document that this kit checks against',
      answer,
    );
  }),
];

/** One request for each kind of refusal and each kind of success that has a message. */
const MESSAGES: [
  id: string,
  wanted: number,
  send: (cast: TestUsers) => Promise<[request: string, sent: RequestOptions]>,
][] = [
  ['400', 400, async (cast) => ['POST /posts/create', { token: (await user(cast)).token, form: { title: '' } }]],
  ['401', 401, async () => ['GET /posts', {}]],
  ['401.login', 401, async () => ['POST /auth/login', { json: { email: 'nobody@example.org', password: 'x' } }]],
  ['403', 403, async (cast) => ['POST /posts/like?id=1', byCookie((await user(cast)).token, CROSS_SITE)]],
  ['404.post', 404, async (cast) => [`GET /posts/${NO_ID}`, { token: (await user(cast)).token }]],
  ['404.route', 404, async () => ['GET /no-such-path', {}]],
  ['404.user', 404, async (cast) => [`GET /profiles/${NO_ID}`, { token: (await user(cast)).token }]],
  ['404.session', 404, async (cast) => ['DELETE /auth/sessions/x', { token: (await user(cast)).token }]],
  ['404.image', 404, async (cast) => ['GET /posts/image/x.png', { token: (await user(cast)).token }]],
  ['405', 405, async () => ['PATCH /posts', {}]],
  [
    '409',
    409,
    async (cast) => {
      const { viewers, owned } = await audience(cast);
      return [`POST /friends/request?to=${owned.public.owner.id}`, { token: viewers.friend.token }];
    },
  ],
  ['413', 413, async () => ['POST /auth/login', { json: { email: 'x'.repeat(70_000), password: 'x' } }]],
  ['415', 415, async () => ['POST /auth/login', TEXT]],
];

const messageRules = MESSAGES.map(([id, wanted, send]) =>
  rule(
    `errors.message.${id}`,
    `An error is application/json with a message that is not empty, and so is every one of its errors: ${id}.`,
    async (cast) => {
      const answer = expectErrorShape(await cast.anonymous.send(wanted, ...(await send(cast))));
      for (const { message } of answer.body.errors ?? []) {
        expectThat(typeof message === 'string' && message.trim() !== '', 'a message for each problem', answer);
      }
      expectThat(/\p{L}{2}/u.test(answer.body.message), 'a message with words', answer);
    },
  ),
);

const wantMessage = (answer: CheckedResponse) => {
  expectEqual(answer, 'the fields', Object.keys(answer.body), ['message']);
  expectThat(/\p{L}{2}/u.test(answer.body.message), 'a message with words', answer);
};

const successRules = [
  rule(
    'messages.actions',
    'Likes, friend requests, session ends and deletions return 200 with a message that is not empty.',
    async (cast) => {
      const [one, other] = await Promise.all([cast.register(), cast.register()]);
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
        wantMessage(await send(200, request));
      }
      const { password } = other;
      wantMessage(await other.send(200, 'DELETE /profiles/me', { json: { password } }));
    },
  ),

  rule(
    'order.fields-before-password',
    'What is wrong with the fields is 400 also if the password is wrong, and then nothing is changed.',
    async (cast) => {
      const { token } = await user(cast);
      const wrong = 'Wrong-Harbour_58';
      for (const form of [
        { name: '' },
        { username: 'a b' },
        { email: 'x' },
        { private: 'x' },
        { extra: '1' },
      ] as Record<string, string>[]) {
        const answer = await cast.anonymous.send(400, 'PUT /profiles/me', {
          token,
          ...textForm({ ...form, current_password: wrong }),
        });
        expectProblems(answer, `body.${Object.keys(form)[0]}`);
      }
      expectProblems(
        await cast.anonymous.send(400, 'DELETE /profiles/me', { token, json: { password: wrong, extra: 1 } }),
        'body.extra',
      );
      expectProblems(
        await cast.anonymous.send(400, 'DELETE /profiles/me?page=1', { token, json: { password: wrong } }),
        'query.page',
      );
      expectProblems(
        await cast.anonymous.send(400, 'POST /auth/login?page=1', { json: { email: 'x', password: wrong } }),
        'query.page',
      );
    },
  ),

  rule(
    'order.password-before-conflict',
    'A wrong current_password is 401 Invalid password also if the username or email is taken, and whatever field it comes with.',
    async (cast) => {
      const { token } = await user(cast);
      const { username, email } = await cast.sharedUser('ada');
      const before = await cast.anonymous.send(200, 'GET /auth/me', { token });
      for (const form of [
        { username },
        { email },
        { name: 'Changed' },
        { private: 'true' },
        { remove_image: 'true' },
      ] as Record<string, string>[]) {
        const sent = textForm({ ...form, current_password: 'Wrong-Harbour_58' });
        const answer = await cast.anonymous.send(401, 'PUT /profiles/me', { token, ...sent });
        expectEqual(answer, 'the message', answer.body.message, 'Invalid password');
      }
      const after = await cast.anonymous.send(200, 'GET /auth/me', { token });
      expectEqual(after, 'the account, unchanged', after.body, before.body);
      const profile = await cast.anonymous.send(200, 'GET /profiles/me', { token });
      expectEqual(profile, 'private, unchanged', profile.body.private, false);
    },
  ),

  rule(
    'order.fields-before-conflict',
    'What is wrong with the fields is 400 also if the username or email is taken.',
    async (cast) => {
      const { username, email } = await cast.sharedUser('ada');
      const { token } = await user(cast);
      const json = { ...cast.newUser(), username, email, name: ' ' };
      expectProblems(await cast.anonymous.send(400, 'POST /auth/register', { json }), 'body.name');
      expectProblems(
        await cast.anonymous.send(400, 'POST /auth/register?page=1', { json: { ...json, name: 'A' } }),
        'query.page',
      );
      const form = textForm({ username, name: ' ' });
      expectProblems(await cast.anonymous.send(400, 'PUT /profiles/me', { token, ...form }), 'body.name');
    },
  ),

  rule(
    'order.method-before-credentials',
    'An unknown path is 404, and a method that a path does not support 405 with Allow, with and without credentials, from every site and with every body.',
    async (cast) => {
      const { token } = await user(cast);
      for (const sent of [
        {},
        { token },
        { token: 'stale' },
        TEXT,
        { headers: CROSS_SITE },
        byCookie(token, CROSS_SITE),
      ] as RequestOptions[]) {
        await cast.anonymous.send(404, 'POST /no-such-path', sent);
        const answer = await cast.anonymous.send(405, 'POST /auth/me?page=1', sent);
        expectThat(answer.headers.has('allow'), 'Allow', answer);
        await cast.anonymous.send(405, 'GET /posts/create', sent);
      }
    },
  ),

  rule(
    'credentials.twice',
    'Two session cookies without an Authorization header are 401. With a good header the cookies do not matter.',
    async (cast) => {
      const { token, id } = await user(cast);
      const Cookie = `fc_session_token=${token}; fc_session_token=${token}`;
      expectStatus(await cast.anonymous.send(401, 'GET /auth/me', { headers: { Cookie } }), 401);
      const answer = await cast.anonymous.send(200, 'GET /auth/me', { token, headers: { Cookie } });
      expectEqual(answer, 'the account', answer.body.id, id);
      const others = `fc_session_token=${token}; x_fc_session_token=1; theme=fc_session_token`;
      await cast.anonymous.send(200, 'GET /auth/me', { headers: { Cookie: others } });
    },
  ),

  rule(
    'credentials.ignored',
    'Registration and login take no credentials, and bad ones do not matter.',
    async (cast) => {
      const stale = { Authorization: 'Bearer stale', Cookie: 'fc_session_token=stale' };
      await cast.login(await user(cast), stale);
      await cast.anonymous.send(400, 'POST /auth/register', { json: {}, headers: stale });
    },
  ),

  rule(
    'credentials.scheme',
    'The scheme Bearer is compared without regard to case. Other schemes, and a token with anything around it, are 401.',
    async (cast) => {
      const { token } = await user(cast);
      for (const Authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`]) {
        await cast.anonymous.send(200, 'GET /auth/me', { headers: { Authorization } });
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
        for (const cookie of [{}, byCookie(token).headers]) {
          const answer = await cast.anonymous.send(401, 'GET /auth/me', { headers: { Authorization, ...cookie } });
          expectThat(
            /^Bearer\b/.test(answer.headers.get('www-authenticate') ?? ''),
            'WWW-Authenticate: Bearer',
            answer,
          );
        }
      }
    },
  ),
];

export const refusals: Subject = {
  name: 'Order of refusals, sites and cookies',
  rules: [
    ...orderRules,
    ...siteRules,
    ...safeRules,
    headerRule,
    ...cookieRules,
    ...keptRules,
    ...documentRules,
    ...messageRules,
    ...successRules,
  ],
};
