import { type ContractOperation, contract, methodAndPath } from '../../document.js';
import type { RequestOptions } from '../../exchange.js';
import { expectEqual, expectErrorShape, expectProblems, expectThat } from '../../expect.js';
import { CROSS_SITE, png, textForm, UNUSED_ID, WRONG_PASSWORD, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { exampleBody, validRequest } from '../operations.js';
import { getUser, isSafe, TEXT_BODY, UNKNOWN_QUERY } from './requests.js';

/** Returns the options with additional headers. */
const withHeaders = ({ headers, ...sent }: RequestOptions, additional: Record<string, string>): RequestOptions => ({
  ...sent,
  headers: { ...headers, ...additional },
});

/** Requests with several reasons to reject them, and the status that takes precedence. */
interface OrderCase {
  id: string;
  description: string;
  status: number;
  applies(operation: ContractOperation): boolean;
  requests(users: TestUsers, operation: ContractOperation): Promise<[request: string, sent: RequestOptions][]>;
}

const ORDER_CASES: OrderCase[] = [
  {
    id: 'credentials-before-cross-site',
    description: 'a cross-site request with missing or invalid credentials returns 401',
    status: 401,
    applies: (operation) => operation.secured && !isSafe(operation),
    requests: async (_, operation) => [
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
    requests: async (_, operation) => [
      [validRequest(operation, UNKNOWN_QUERY), TEXT_BODY],
      [validRequest(operation, UNKNOWN_QUERY), withHeaders(TEXT_BODY, { Authorization: 'Bearer stale' })],
    ],
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    description: 'a cross-site request authenticated only by the cookie returns 403 regardless of its query and body',
    status: 403,
    applies: (operation) => operation.secured && !isSafe(operation),
    async requests(users, operation) {
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
    requests: async (_, operation) => [
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE }],
      [validRequest(operation, UNKNOWN_QUERY), withHeaders(TEXT_BODY, CROSS_SITE)],
    ],
  },
  {
    id: 'media-type-before-fields',
    description: 'a body of an unsupported media type returns 415 regardless of the query',
    status: 415,
    applies: ({ requestBody }) => requestBody !== undefined,
    async requests(users, operation) {
      const token = operation.secured ? (await getUser(users)).token : undefined;
      return [
        [validRequest(operation, UNKNOWN_QUERY), { ...TEXT_BODY, token }],
        [`${operation.method} ${operation.path}?id=x`, { ...TEXT_BODY, token }],
      ];
    },
  },
  {
    id: 'fields-before-existence',
    description:
      'an invalid query returns 400 even if the post, user, session or image does not exist or its id is not well formed',
    status: 400,
    applies: ({ query, pathParameters, secured }) => secured && (query.length > 0 || pathParameters.length > 0),
    async requests(users, operation) {
      const { token } = await getUser(users);
      const request = validRequest(operation, UNKNOWN_QUERY);
      const malformed = request.replace(`/${UNUSED_ID}`, '/x');
      return [...new Set([request, malformed])].map((line) => [line, { ...exampleBody(operation), token }]);
    },
  },
];

/** A rule for each case and each operation that it applies to. */
export const operationOrderRules = ORDER_CASES.flatMap((orderCase) =>
  contract.filter(orderCase.applies).map((operation) =>
    rule(
      `order.${orderCase.id}.${operation.id}`,
      `${methodAndPath(operation)}: ${orderCase.description}.`,
      async (users) => {
        const requests = await orderCase.requests(users, operation);
        await Promise.all(
          requests.map(async ([request, sent]) =>
            expectErrorShape(await users.anonymous.send(orderCase.status, request, sent)),
          ),
        );
      },
    ),
  ),
);

/** Rules about passwords, conflicts and methods, each checked on a few operations. */
export const furtherOrderRules: Rule[] = [
  rule(
    'order.fields-before-password',
    'Invalid fields return 400 even if the password is wrong, and nothing changes.',
    async (users) => {
      const { token } = await getUser(users);
      const before = await users.anonymous.send(200, 'GET /auth/me', { token });
      for (const form of [
        { name: '' },
        { username: 'a b' },
        { email: 'x' },
        { private: 'x' },
        { extra: '1' },
      ] as Record<string, string>[]) {
        const response = await users.anonymous.send(400, 'PUT /profiles/me', {
          token,
          ...textForm({ name: 'Changed', ...form, current_password: WRONG_PASSWORD }),
        });
        expectProblems(response, `body.${Object.keys(form)[0]}`);
      }
      const after = await users.anonymous.send(200, 'GET /auth/me', { token });
      expectEqual(after, 'the account, unchanged', after.body, before.body);
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
        { image: png() },
      ] as Record<string, string | File>[]) {
        const sent = { form: { ...form, current_password: WRONG_PASSWORD } };
        const response = await users.anonymous.send(401, 'PUT /profiles/me', { token, ...sent });
        expectEqual(response, 'the message', response.body.message, 'Invalid password');
      }
      const after = await users.anonymous.send(200, 'GET /auth/me', { token });
      expectEqual(after, 'the account, unchanged', after.body, before.body);
      const profile = await users.anonymous.send(200, 'GET /profiles/me', { token });
      const { private: isPrivate, profile_link } = profile.body;
      expectEqual(profile, 'private and the picture, unchanged', [isPrivate, profile_link], [false, null]);
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
];
