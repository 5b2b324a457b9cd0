import type { CheckedResponse, RequestOptions } from '../../exchange.js';
import { expectCode, expectEqual, expectErrorShape, expectThat } from '../../expect.js';
import {
  CROSS_SITE,
  claimsOf,
  publish,
  UNUSED_ID,
  visibilityFixture,
  WRONG_PASSWORD,
  withCookie,
} from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { getUser, TEXT_BODY } from './requests.js';

/** One request for each kind of error. */
const ERRORS: [
  id: string,
  description: string,
  status: number,
  code: string,
  requestFor: (users: TestUsers) => Promise<[request: string, sent: RequestOptions]>,
][] = [
  [
    '400',
    'an invalid field',
    400,
    'invalid_request',
    async (users) => ['POST /posts/create', { token: (await getUser(users)).token, form: { title: '' } }],
  ],
  ['401', 'missing credentials', 401, 'missing_credentials', async () => ['GET /posts', {}]],
  [
    '401.login',
    'a failed login',
    401,
    'invalid_credentials',
    async () => ['POST /auth/login', { json: { email: 'unknown@example.org', password: 'x' } }],
  ],
  ['401.token', 'a rejected token', 401, 'invalid_token', async () => ['GET /posts', { token: 'stale' }]],
  [
    '401.password',
    'a wrong password',
    401,
    'invalid_password',
    async (users) => [
      'PUT /profiles/me',
      { token: (await getUser(users)).token, form: { name: 'A name', current_password: WRONG_PASSWORD } },
    ],
  ],
  [
    '403.user',
    'a relationship of another user',
    403,
    'user_mismatch',
    async (users) => {
      const { token, id } = await getUser(users);
      return [`POST /create_relationship?me=${UNUSED_ID}&them=${id}`, { token }];
    },
  ],
  [
    '403',
    'a cross-site request',
    403,
    'cross_site_request',
    async (users) => ['POST /posts/like?id=1', withCookie((await getUser(users)).token, CROSS_SITE)],
  ],
  [
    '404.post',
    'a missing post',
    404,
    'not_found',
    async (users) => [`GET /posts/${UNUSED_ID}`, { token: (await getUser(users)).token }],
  ],
  ['404.route', 'an unknown path', 404, 'not_found', async () => ['GET /no-such-path', {}]],
  [
    '404.user',
    'a missing user',
    404,
    'not_found',
    async (users) => [`GET /profiles/${UNUSED_ID}`, { token: (await getUser(users)).token }],
  ],
  [
    '404.session',
    'a missing session',
    404,
    'not_found',
    async (users) => ['DELETE /auth/sessions/x', { token: (await getUser(users)).token }],
  ],
  [
    '404.image',
    'a missing image',
    404,
    'not_found',
    async (users) => ['GET /posts/image/x.png', { token: (await getUser(users)).token }],
  ],
  ['405', 'an unsupported method', 405, 'method_not_allowed', async () => ['PATCH /posts', {}]],
  [
    '409',
    'a friend request to a friend',
    409,
    'already_friends',
    async (users) => {
      const { viewers, owned } = await visibilityFixture(users);
      return [`POST /friends/request?to=${owned.public.owner.id}`, { token: viewers.friend.token }];
    },
  ],
  [
    '413',
    'a body that is too large',
    413,
    'body_too_large',
    async () => ['POST /auth/login', { json: { email: 'x'.repeat(70_000), password: 'x' } }],
  ],
  ['415', 'an unsupported media type', 415, 'unsupported_media_type', async () => ['POST /auth/login', TEXT_BODY]],
];

export const messageRules = ERRORS.map(([id, description, status, code, requestFor]) =>
  rule(
    `errors.message.${id}`,
    `The ${status} response for ${description} is application/json with the code ${code} and a non-empty message. Each of its errors, if any, also has a non-empty message.`,
    async (users) => {
      const response = expectErrorShape(await users.anonymous.send(status, ...(await requestFor(users))));
      expectCode(response, code);
      for (const { message } of response.body.errors ?? []) {
        expectThat(typeof message === 'string' && message.trim() !== '', 'a message for each problem', response);
      }
      expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
    },
  ),
);

/** Throws an ExpectationError unless the body has only a message with words. */
const expectMessage = (response: CheckedResponse) => {
  expectEqual(response, 'the fields', Object.keys(response.body), ['message']);
  expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
};

export const actionMessageRule = rule(
  'messages.actions',
  'Likes, friend operations, logouts and deletions return 200 with a non-empty message.',
  async (users) => {
    const [one, other] = await Promise.all([users.register(), users.register()]);
    const { id } = await publish(one);
    const session = claimsOf((await users.login(one)).body.token).jti;
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
      [one, `DELETE /auth/sessions/${session}`],
      [one, 'DELETE /auth/sessions'],
      [one, 'POST /auth/logout'],
    ] as const) {
      expectMessage(await send(200, request));
    }
    const { password } = other;
    expectMessage(await other.send(200, 'DELETE /profiles/me', { json: { password } }));
  },
);
