import { type ContractOperation, contract, methodAndPath, type RequestContent } from '../../client/index.js';
import { expectEqual, expectErrorShape, expectProblems, expectThat } from '../../expect.js';
import { CROSS_SITE, pngFile, textForm, UNUSED_ID, WRONG_PASSWORD, withCookie } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import { exampleBody, validRequest } from '../operations.js';
import { getErrorsUser, isSafe, textBody, UNKNOWN_QUERY, userRule } from './requests.js';

type Requests = [request: string, content: RequestContent][];

/** Requests with several reasons to reject them, and the status that takes precedence. */
interface OrderCase {
  id: string;
  description: string;
  status: number;
  applies(operation: ContractOperation): boolean;
  /** Calls `getToken` only if a request needs a token, so that the other rules do not depend on registration. */
  requests(operation: ContractOperation, getToken: () => Promise<string>): Requests | Promise<Requests>;
}

const ORDER_CASES: OrderCase[] = [
  {
    id: 'credentials-before-cross-site',
    description: 'a cross-site request with missing or invalid credentials returns 401',
    status: 401,
    applies: (operation) => operation.requiresAuthentication && !isSafe(operation),
    requests: (operation) => [
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE }],
      [validRequest(operation), withCookie('stale', CROSS_SITE)],
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE, token: 'stale' }],
    ],
  },
  {
    id: 'credentials-before-media-type-and-fields',
    description: 'a request with missing or invalid credentials returns 401 regardless of its media type and fields',
    status: 401,
    applies: ({ requiresAuthentication }) => requiresAuthentication,
    requests: (operation) => [
      [validRequest(operation, UNKNOWN_QUERY), textBody()],
      [validRequest(operation, UNKNOWN_QUERY), { ...textBody(), token: 'stale' }],
    ],
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    description: 'a cross-site request authenticated only by the cookie returns 403 regardless of its query and body',
    status: 403,
    applies: (operation) => operation.requiresAuthentication && !isSafe(operation),
    async requests(operation, getToken) {
      const { headers = {} } = withCookie(await getToken(), CROSS_SITE);
      return [
        [validRequest(operation, UNKNOWN_QUERY), { ...exampleBody(operation), headers }],
        [validRequest(operation), textBody(headers)],
        // The unknown parameter prevents a logout, even if the service accepts the origin.
        [`${operation.method} ${operation.path.replace(/\{\w+\}/, 'x')}?page=1`, { headers }],
      ];
    },
  },
  {
    id: 'cross-site-before-media-type-and-fields',
    description: 'a cross-site request without credentials returns 403 regardless of its query and body',
    status: 403,
    applies: ({ requiresAuthentication }) => !requiresAuthentication,
    requests: (operation) => [
      [validRequest(operation), { ...exampleBody(operation), headers: CROSS_SITE }],
      [validRequest(operation, UNKNOWN_QUERY), textBody(CROSS_SITE)],
    ],
  },
  {
    id: 'media-type-before-fields',
    description: 'a body of an unsupported media type returns 415 regardless of the query',
    status: 415,
    applies: ({ requestBody }) => requestBody !== undefined,
    async requests(operation, getToken) {
      const content = { ...textBody(), token: operation.requiresAuthentication ? await getToken() : undefined };
      return [
        [validRequest(operation, UNKNOWN_QUERY), content],
        [`${operation.method} ${operation.path}?id=x`, content],
      ];
    },
  },
  {
    id: 'fields-before-existence',
    description:
      'an invalid query returns 400 even if the post, user, session or image does not exist or its id is not well formed',
    status: 400,
    applies: ({ query, pathParameters, requiresAuthentication }) =>
      requiresAuthentication && (query.length > 0 || pathParameters.length > 0),
    async requests(operation, getToken) {
      const token = await getToken();
      const request = validRequest(operation, UNKNOWN_QUERY);
      const malformed = request.replace(`/${UNUSED_ID}`, '/x');
      return [...new Set([request, malformed])].map((line) => [line, { ...exampleBody(operation), token }]);
    },
  },
];

const operationOrderRules = ORDER_CASES.flatMap(({ id, description, status, applies, requests }) =>
  contract.filter(applies).map((operation) =>
    rule(`order.${id}.${operation.id}`, `${methodAndPath(operation)}: ${description}.`, async (users) => {
      const rejected = await requests(operation, async () => (await getErrorsUser(users)).token);
      const sending = rejected.map(([request, content]) => users.anonymous.send(status, request, content));
      for (const response of await Promise.all(sending)) expectErrorShape(response);
    }),
  ),
);

export const orderRules: Rule[] = [
  ...operationOrderRules,

  userRule(
    'order.fields-before-password',
    'Invalid fields return 400 even if the password is wrong, and nothing changes.',
    async ({ send }, users) => {
      const before = await send(200, 'GET /auth/me');
      const invalid = { name: '', username: 'a b', email: 'x', private: 'x', extra: '1' };
      for (const [field, value] of Object.entries(invalid)) {
        const form = textForm({ name: 'Changed', [field]: value, current_password: WRONG_PASSWORD });
        expectProblems(await send(400, 'PUT /profiles/me', form), `body.${field}`);
      }
      const after = await send(200, 'GET /auth/me');
      expectEqual(after, 'the account, unchanged', after.body, before.body);
      const json = { password: WRONG_PASSWORD };
      expectProblems(await send(400, 'DELETE /profiles/me', { json: { ...json, extra: 1 } }), 'body.extra');
      expectProblems(await send(400, 'DELETE /profiles/me?page=1', { json }), 'query.page');
      const login = await users.anonymous.send(400, 'POST /auth/login?page=1', { json: { ...json, email: 'x' } });
      expectProblems(login, 'query.page');
    },
  ),

  userRule(
    'order.password-before-conflict',
    'A wrong current_password returns 401 Invalid password even if the username or email is taken, regardless of the other fields.',
    async ({ send }, users) => {
      const { username, email } = await users.sharedUser('ada');
      const before = await send(200, 'GET /auth/me');
      const changes = { username, email, name: 'Changed', private: 'true', remove_image: 'true', image: pngFile() };
      for (const [field, value] of Object.entries(changes)) {
        const form = { [field]: value, current_password: WRONG_PASSWORD };
        const response = await send(401, 'PUT /profiles/me', { form });
        expectEqual(response, 'the message', response.body.message, 'Invalid password');
      }
      const after = await send(200, 'GET /auth/me');
      expectEqual(after, 'the account, unchanged', after.body, before.body);
      const profile = await send(200, 'GET /profiles/me');
      const { private: isPrivate, profile_link } = profile.body;
      expectEqual(profile, 'private and the picture, unchanged', [isPrivate, profile_link], [false, null]);
    },
  ),

  userRule(
    'order.fields-before-conflict',
    'Invalid fields return 400 even if the username or email is taken.',
    async ({ send }, users) => {
      const { username, email } = await users.sharedUser('ada');
      const register = (request: string, name: string) =>
        users.anonymous.send(400, request, { json: { ...users.newUser(), username, email, name } });
      expectProblems(await register('POST /auth/register', ' '), 'body.name');
      expectProblems(await register('POST /auth/register?page=1', 'A'), 'query.page');
      expectProblems(await send(400, 'PUT /profiles/me', textForm({ username, name: ' ' })), 'body.name');
    },
  ),

  userRule(
    'order.method-before-credentials',
    'An unknown path returns 404, and an unsupported method 405 with Allow, regardless of credentials, origin and body.',
    async ({ token }, users) => {
      for (const content of [
        {},
        { token },
        { token: 'stale' },
        textBody(),
        { headers: CROSS_SITE },
        withCookie(token, CROSS_SITE),
      ] as RequestContent[]) {
        await users.anonymous.send(404, 'POST /no-such-path', content);
        const response = await users.anonymous.send(405, 'POST /auth/me?page=1', content);
        expectThat(response.headers.has('allow'), 'Allow', response);
        await users.anonymous.send(405, 'GET /posts/create', content);
      }
    },
  ),
];
