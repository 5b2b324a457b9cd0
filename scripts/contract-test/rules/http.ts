import { type CheckedResponse, contract } from '../client/index.js';
import { expectEqual, expectErrorShape, expectProblems, expectThat } from '../expect.js';
import { CROSS_SITE, OTHER_ORIGIN, publicProfile, withCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester } from '../users.js';
import { DOCUMENT_PATHS, docsRules } from './http-docs.js';
import { parsingRules, requireOwnParser } from './http-parsing.js';
import { validRequest } from './operations.js';

/** Every path, with an example path and the supported methods. */
const paths = [...new Set(contract.map(({ path }) => path)), ...DOCUMENT_PATHS].map((path) => {
  const operations = contract.filter((operation) => operation.path === path);
  const methods = operations.length === 0 ? ['GET'] : operations.map(({ method }) => method);
  return {
    path,
    example: path.replace('{id}', '1').replace('{filename}', 'a.png'),
    allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort(),
  };
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'];

const PREFLIGHT = { headers: { ...CROSS_SITE, 'Access-Control-Request-Method': 'PUT' } };

/** Throws an ExpectationError if the response lacks X-Request-Id or X-RateLimit-Limit. */
function expectCommonHeaders(response: CheckedResponse): void {
  for (const name of ['X-Request-Id', 'X-RateLimit-Limit'])
    expectThat(response.headers.has(name), `the header ${name}`, response);
}

/** Headers that must be equal for HEAD and GET. */
const EQUAL_HEADERS = [
  ...['content-type', 'content-length', 'etag', 'cache-control', 'link'],
  ...['content-security-policy', 'cross-origin-resource-policy'],
];

/** Throws an ExpectationError unless the header Allow lists these methods. */
const expectAllow = (response: CheckedResponse, methods: string[]) =>
  expectEqual(response, 'Allow', (response.headers.get('allow') ?? '').split(/, */).sort(), methods);

/** Requests a path by GET and HEAD, and checks that HEAD returns the same headers and no body. */
async function expectHeadLikeGet({ send }: Requester, path: string): Promise<void> {
  const [get, head] = [await send(200, `GET ${path}`), await send(200, `HEAD ${path}`)];
  expectEqual(head, 'the number of bytes', head.bytes.length, 0);
  // The feed changes while other rules publish posts.
  const changing = path.startsWith('/posts?') ? ['content-length', 'etag'] : [];
  for (const name of EQUAL_HEADERS.filter((header) => !changing.includes(header))) {
    expectEqual(head, name, head.headers.get(name), get.headers.get(name));
  }
}

export const http: Subject = {
  name: 'HTTP, cookies and browsers',
  rules: [
    ...paths.map(({ path, example, allowed }) =>
      rule(
        `http.methods.${path.slice(1).replace(/[{}]/g, '').replace(/[/_.]/g, '-')}`,
        `${path} returns 405 with Allow for a method that it does not support, and 204 with Allow for OPTIONS, including a preflight, even with an invalid token.`,
        async (users) => {
          for (const content of [{}, { token: 'stale' }, { headers: CROSS_SITE }, PREFLIGHT]) {
            const options = await users.anonymous.send(204, `OPTIONS ${example}`, content);
            expectAllow(options, allowed);
            expectEqual(options, 'the number of bytes', options.bytes.length, 0);
          }
          for (const method of METHODS.filter((name) => !allowed.includes(name))) {
            const response = await users.anonymous.send(405, `${method} ${example}`);
            expectAllow(response, allowed);
            if (method !== 'HEAD') expectErrorShape(response);
          }
        },
      ),
    ),

    rule(
      'http.errors.unknown-path',
      'An unknown path returns 404 for every method, with a JSON error body, X-Request-Id and X-RateLimit-Limit.',
      async (users) => {
        const variants = ['/posts/7/none', '/auth', '/POSTS', '/posts/like/', '//posts', '/*'];
        for (const path of ['/none', '/docs/none', '/livez', '/metrics', ...variants]) {
          for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
            expectCommonHeaders(expectErrorShape(await users.anonymous.send(404, `${method} ${path}`)));
          await users.anonymous.send(404, `HEAD ${path}`);
          await users.anonymous.send(404, `OPTIONS ${path}`, PREFLIGHT);
        }
      },
    ),

    rule(
      'http.errors.undecodable-url',
      'A URL that cannot be decoded returns 400, with a JSON error body, X-Request-Id and X-RateLimit-Limit.',
      async (users) => {
        await requireOwnParser(users);
        const { send } = await users.sharedUser('ada');
        for (const [request, problem] of [
          ['GET /posts/%ff', 'path.'],
          ['GET /%?page=1', 'path.'],
          ['POST /posts/%E0%A4%A', 'path.'],
          ['DELETE /auth/sessions/%zz', 'path.'],
          ['GET /posts/image/%ff', 'path.'],
          ['GET /profiles/image/%ff', 'path.'],
          ['OPTIONS /%ff', 'path.'],
          ['GET /posts?limit=%ff', 'query.limit'],
          ['GET /posts?%ff=1', 'query.%ff'],
        ] as const) {
          expectCommonHeaders(expectErrorShape(expectProblems(await send(400, request), problem)));
        }
      },
    ),

    ...parsingRules,

    rule('http.errors.accept', 'Errors are JSON, regardless of the Accept header.', async (users) => {
      for (const Accept of ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain', 'image/png', '']) {
        const headers = { Accept };
        for (const [status, request] of [
          [404, 'GET /none'],
          [405, 'PATCH /posts'],
          [401, 'GET /posts'],
          [400, 'POST /auth/login'],
          [400, 'GET /%ff'],
        ] as const)
          expectErrorShape(await users.anonymous.send(status, request, { headers }));
      }
    }),

    rule('http.head.like-get', 'HEAD returns the status and the headers of GET without the body.', async (users) => {
      const { visitor, owner, post, picture } = await publicProfile(users);
      const { id } = owner;
      // With an offset, the Link does not depend on posts that others publish meanwhile.
      for (const path of [
        '/auth/me',
        '/posts?limit=1&offset=0',
        `/posts/${post.id}`,
        `/profiles/${id}`,
        post.image,
        picture,
      ])
        await expectHeadLikeGet(visitor, path);
    }),

    rule(
      'http.head.document',
      'HEAD of /docs, /openapi.yaml and /openapi.json returns the status and the headers of GET without the body.',
      async (users) => {
        for (const path of DOCUMENT_PATHS) await expectHeadLikeGet(users.anonymous, path);
      },
    ),

    rule(
      'http.head.operations',
      'HEAD returns the status of GET for every operation, 400 for an undocumented query parameter, and 401 without credentials.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const operation of contract.filter(({ method }) => method === 'GET')) {
          const request = validRequest(operation);
          const head = request.replace('GET', 'HEAD');
          await send((await send([200, 404], request)).status, head);
          await send(400, validRequest(operation, ['page=1']).replace('GET', 'HEAD'));
          await users.anonymous.send(401, head);
        }
      },
    ),

    rule(
      'http.request-id.unique',
      'Every response has a unique X-Request-Id, regardless of that of the request.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const own = { headers: { 'X-Request-Id': 'own' } };
        const responses = [
          await send(200, 'GET /auth/me'),
          await send(200, 'GET /auth/me'),
          await send(404, 'GET /none'),
          await users.anonymous.send(401, 'GET /posts'),
          await users.anonymous.send(405, 'PATCH /posts'),
          await users.anonymous.send(204, 'OPTIONS /posts'),
          ...(await Promise.all(DOCUMENT_PATHS.map((path) => users.anonymous.send(200, `GET ${path}`)))),
          await send(200, 'GET /auth/me', own),
          await send(200, 'GET /auth/me', own),
        ];
        const ids = responses.map(({ headers }) => headers.get('x-request-id'));
        for (const [index, response] of responses.entries()) expectThat(ids[index], 'an X-Request-Id', response);
        expectThat(new Set(ids).size === ids.length, 'a different id for every response', responses[0]);
      },
    ),

    ...docsRules,

    rule(
      'http.cors.closed',
      'Pages of other origins cannot read responses (CORS), unless the operator has allowed their origin.',
      async (users) => {
        const { visitor, post } = await publicProfile(users);
        const headers = { Origin: OTHER_ORIGIN };
        for (const [status, request, content] of [
          [200, 'GET /auth/me', { headers }],
          // A sandboxed page of any origin sends this.
          [200, 'GET /auth/me', { headers: { Origin: 'null' } }],
          [200, `GET ${post.image}`, { headers }],
          [200, 'GET /docs', { headers }],
          [404, 'GET /none', { headers }],
          [400, 'GET /%ff', { headers }],
          [204, 'OPTIONS /posts/create', PREFLIGHT],
        ] as const) {
          const response = await visitor.send(status, request, content);
          const allowed = response.headers.get('access-control-allow-origin');
          const isClosed = allowed !== '*' && allowed !== content.headers.Origin;
          expectThat(isClosed, 'no Access-Control-Allow-Origin for another origin', response);
        }
      },
    ),

    rule(
      'auth.cookie.accepted',
      'The cookie fc_session_token authenticates a request, including one that changes data.',
      async (users) => {
        const { token } = await users.sharedUser('ada');
        const cookie = `fc_session_token=${token}`;
        for (const Cookie of [cookie, `theme=dark; ${cookie}; other=1`, `theme=dark;${cookie};other=1`])
          await users.anonymous.send(200, 'GET /auth/me', { headers: { Cookie } });
        const form = { title: 'A title', text: 'By cookie' };
        await users.anonymous.send(201, 'POST /posts/create', { ...withCookie(token), form });
      },
    ),
  ],
};
