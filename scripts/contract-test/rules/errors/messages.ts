import type { RequestContent } from '../../client/index.js';
import { expectCode, expectEqual, expectErrorShape, expectThat } from '../../expect.js';
import { CROSS_SITE, publish, UNUSED_ID, visibilityFixture, WRONG_PASSWORD, withCookie } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers, User } from '../../users.js';
import { startSession } from '../session.js';
import { getErrorsUser, textBody } from './requests.js';

type Request = [request: string, content?: RequestContent];

/** Returns a friend request to a user who is already a friend. */
async function requestToFriend(_: User, users: TestUsers): Promise<Request> {
  const { viewers, owned } = await visibilityFixture(users);
  return [`POST /friends/request?to=${owned.public.owner.id}`, { token: viewers.friend.token }];
}

/** One request for each kind of error, or a function that returns it for a user. The ids begin with the status. */
const ERRORS: [
  id: string,
  description: string,
  code: string,
  request: Request | ((user: User, users: TestUsers) => Request | Promise<Request>),
][] = [
  ['400', 'an invalid field', 'invalid_request', ({ token }) => ['POST /posts/create', { token, form: { title: '' } }]],
  ['401', 'missing credentials', 'missing_credentials', ['GET /posts']],
  [
    '401.login',
    'a failed login',
    'invalid_credentials',
    ['POST /auth/login', { json: { email: 'unknown@example.org', password: 'x' } }],
  ],
  ['401.token', 'a rejected token', 'invalid_token', ['GET /posts', { token: 'stale' }]],
  [
    '401.password',
    'a wrong password',
    'invalid_password',
    ({ token }) => ['PUT /profiles/me', { token, form: { name: 'A name', current_password: WRONG_PASSWORD } }],
  ],
  [
    '403.user',
    'a friend request in the name of another user',
    'user_mismatch',
    ({ token, id }) => [`POST /create_relationship?me=${UNUSED_ID}&them=${id}`, { token }],
  ],
  [
    '403',
    'a cross-site request',
    'cross_site_request',
    ({ token }) => ['POST /posts/like?id=1', withCookie(token, CROSS_SITE)],
  ],
  ['404.post', 'a missing post', 'not_found', ({ token }) => [`GET /posts/${UNUSED_ID}`, { token }]],
  ['404.route', 'an unknown path', 'not_found', ['GET /no-such-path']],
  ['404.user', 'a missing user', 'not_found', ({ token }) => [`GET /profiles/${UNUSED_ID}`, { token }]],
  ['404.session', 'a missing session', 'not_found', ({ token }) => ['DELETE /auth/sessions/x', { token }]],
  ['404.image', 'a missing image', 'not_found', ({ token }) => ['GET /posts/image/x.png', { token }]],
  ['405', 'an unsupported method', 'method_not_allowed', ['PATCH /posts']],
  ['409', 'a friend request to a friend', 'already_friends', requestToFriend],
  [
    '413',
    'a body that is too large',
    'body_too_large',
    ['POST /auth/login', { json: { email: 'x'.repeat(70_000), password: 'x' } }],
  ],
  ['415', 'an unsupported media type', 'unsupported_media_type', ['POST /auth/login', textBody()]],
];

const errorRules = ERRORS.map(([id, description, code, request]) => {
  const status = Number.parseInt(id, 10);
  return rule(
    `errors.message.${id}`,
    `The ${status} response for ${description} is application/json with the code ${code} and a non-empty message. Each of its errors, if any, also has a non-empty message.`,
    async (users) => {
      const [line, content] =
        typeof request === 'function' ? await request(await getErrorsUser(users), users) : request;
      const response = expectErrorShape(await users.anonymous.send(status, line, content));
      expectCode(response, code);
      for (const { message } of response.body.errors ?? []) {
        expectThat(typeof message === 'string' && message.trim() !== '', 'a message for each problem', response);
      }
      expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
    },
  );
});

const successRule = rule(
  'messages.actions',
  'Likes, friend operations, logouts and deletions return 200 with a non-empty message.',
  async (users) => {
    const [one, other] = await Promise.all([users.register(), users.register()]);
    const { id } = await publish(one);
    const session = await startSession(users, one);
    for (const [{ send }, request, content] of [
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
      [one, `DELETE /auth/sessions/${session.id}`],
      [one, 'DELETE /auth/sessions'],
      [one, 'POST /auth/logout'],
      [other, 'DELETE /profiles/me', { json: { password: other.password } }],
    ] as [User, ...Request][]) {
      const response = await send(200, request, content);
      expectEqual(response, 'the fields', Object.keys(response.body), ['message']);
      expectThat(/\p{L}{2}/u.test(response.body.message), 'a message with words', response);
    }
  },
);

export const messageRules = [...errorRules, successRule];
