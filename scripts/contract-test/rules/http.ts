import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { contract } from '../document.js';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectErrorShape, expectNoRateLimit, expectProblems, expectThat } from '../expect.js';
import { CROSS_SITE, OTHER_ORIGIN, publicProfile, UNUSED_ID, withCookie } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers } from '../users.js';
import { parsingRules } from './http-parsing.js';

/** The document and its explorer, which are not operations. */
const DOCUMENT_PATHS = ['/docs', '/openapi.yaml', '/openapi.json'];

/** Returns the response to a request without credentials for one of these paths. Checks its media type. */
async function getDocument({ anonymous }: TestUsers, path: string, headers = {}): Promise<CheckedResponse> {
  const response = await anonymous.send(200, `GET ${path}`, { headers });
  const type = path.split('.')[1] ?? 'html';
  expectThat(response.headers.get('content-type')?.includes(type), `a media type with ${type}`, response);
  return response;
}

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

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

const REDIRECTS = [301, 302, 303, 307, 308];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'];

const PREFLIGHT = { headers: { ...CROSS_SITE, 'Access-Control-Request-Method': 'PUT' } };

/** Throws an ExpectationError if the response lacks a header that every response has. */
const expectCommonHeaders = (response: CheckedResponse) =>
  expectThat(
    response.headers.has('x-request-id') && response.headers.has('x-ratelimit-limit'),
    'X-Request-Id and X-RateLimit-Limit',
    response,
  );

/** Headers that must be equal for HEAD and GET. */
const HEADERS_EQUAL_FOR_HEAD = [
  'content-type',
  'content-length',
  'etag',
  'cache-control',
  'link',
  'content-security-policy',
];

const parseAllow = (allow: string | null) => (allow ?? '').split(/, */).sort();

/** Requests a path by GET and HEAD, and checks that HEAD returns the same headers and no body. */
async function expectHeadLikeGet({ send }: Requester, path: string): Promise<void> {
  const [get, head] = [await send(200, `GET ${path}`), await send(200, `HEAD ${path}`)];
  expectEqual(head, 'the number of bytes', head.bytes.length, 0);
  // The feed changes while other rules publish posts.
  const changing = path.startsWith('/posts?') ? ['content-length', 'etag'] : [];
  for (const name of HEADERS_EQUAL_FOR_HEAD.filter((header) => !changing.includes(header))) {
    expectEqual(head, name, head.headers.get(name), get.headers.get(name));
  }
}

export const http: Subject = {
  name: 'HTTP, cookies and browsers',
  rules: [
    ...paths.map(({ path, example, allowed }) =>
      rule(
        `http.methods.${path.slice(1).replace(/[{}]/g, '').replace(/[/_.]/g, '-')}`,
        `${path} returns 405 with Allow for a method that it does not support, and 204 with Allow for OPTIONS.`,
        async (users) => {
          const options = await users.anonymous.send(204, `OPTIONS ${example}`);
          expectEqual(options, 'Allow', parseAllow(options.headers.get('allow')), allowed);
          expectEqual(options, 'the number of bytes', options.bytes.length, 0);
          for (const method of METHODS.filter((name) => !allowed.includes(name))) {
            const response = await users.anonymous.send(405, `${method} ${example}`);
            expectEqual(response, 'Allow', parseAllow(response.headers.get('allow')), allowed);
            if (method !== 'HEAD') expectErrorShape(response);
          }
        },
      ),
    ),

    rule(
      'http.methods.literal-paths',
      'A method that a literal path does not support returns 405: GET /posts/create does not look up a post with the id “create”.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const path of ['/posts/create', '/posts/edit', '/posts/delete', '/posts/like']) {
          await send(405, `GET ${path}`);
          await send(405, `HEAD ${path}`);
        }
        // No operation has this literal path: “image” is an id.
        await send(404, 'GET /posts/image');
      },
    ),

    rule(
      'http.errors.unknown-path',
      'An unknown path returns 404 for every method, with a JSON error body and the common headers.',
      async (users) => {
        const unknownPaths = [
          '/none',
          '/posts/7/none',
          '/auth',
          '/POSTS',
          '/posts/like/',
          '//posts',
          '/*',
          '/docs/none',
          '/livez',
          '/metrics',
        ];
        for (const path of unknownPaths) {
          for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
            expectCommonHeaders(expectErrorShape(await users.anonymous.send(404, `${method} ${path}`)));
          await users.anonymous.send(404, `HEAD ${path}`);
          await users.anonymous.send(404, `OPTIONS ${path}`, PREFLIGHT);
        }
      },
    ),

    rule(
      'http.errors.undecodable-url',
      'A URL that cannot be decoded returns 400, with a JSON error body and the common headers.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const [request, problem] of [
          ['GET /posts/%ff', 'path.'],
          ['GET /%?page=1', 'path.'],
          ['POST /posts/%E0%A4%A', 'path.'],
          ['DELETE /auth/sessions/%zz', 'path.'],
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

    rule(
      'http.docs.assets',
      'The scripts and styles of the service that /docs loads are served with their media types, without credentials or a rate limit.',
      async (users) => {
        const page = await getDocument(users, '/docs');
        const html = page.bytes.toString();
        const tags = [...html.matchAll(/<(?:script|link)\b[^>]*?(?:src|href)="([^"]+\.(css|js))(?:\?[^"]*)?"/g)];
        const { origin, pathname } = new URL(page.exchange.url);
        const base = pathname.replace(/\/docs$/, '');
        for (const [, reference = '', extension = ''] of tags) {
          const asset = new URL(reference, page.exchange.url);
          if (asset.origin !== origin) continue;
          const path = asset.pathname.startsWith(`${base}/`) ? asset.pathname.slice(base.length) : asset.pathname;
          const response = await users.anonymous.send(200, `GET ${path}`);
          const type = response.headers.get('content-type') ?? '';
          const wanted = extension === 'js' ? /^(text|application)\/javascript/ : /^text\/css/;
          expectThat(wanted.test(type), `the media type of a .${extension} file`, response);
          expectNoRateLimit(response);
        }
      },
    ),

    rule('http.head.like-get', 'HEAD returns the status and the headers of GET without the body.', async (users) => {
      const { visitor, owner, post, picture } = await publicProfile(users);
      const { id } = owner;
      for (const path of ['/auth/me', '/posts?limit=1', `/posts/${post.id}`, `/profiles/${id}`, post.image, picture])
        await expectHeadLikeGet(visitor, path);
    }),

    rule(
      'http.head.document',
      'HEAD on the document and its explorer returns the status and the headers of GET without the body.',
      async (users) => {
        for (const path of DOCUMENT_PATHS) await expectHeadLikeGet(users.anonymous, path);
      },
    ),

    rule(
      'http.head.errors',
      'HEAD returns 400, 401 and 404 in the same cases as GET, without a body.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        await send(400, 'HEAD /posts?limit=0');
        await send(404, `HEAD /posts/${UNUSED_ID}`);
        await send(404, 'HEAD /none');
        await users.anonymous.send(401, 'HEAD /posts');
      },
    ),

    rule(
      'http.request-id.unique',
      'Every response has a unique X-Request-Id, regardless of that of the request.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const responses = [
          await send(200, 'GET /auth/me'),
          await send(200, 'GET /auth/me'),
          await send(404, 'GET /none'),
          await users.anonymous.send(401, 'GET /posts'),
          await users.anonymous.send(405, 'PATCH /posts'),
          await users.anonymous.send(204, 'OPTIONS /posts'),
          await send(200, 'GET /auth/me', { headers: { 'X-Request-Id': 'own' } }),
          await send(200, 'GET /auth/me', { headers: { 'X-Request-Id': 'own' } }),
        ];
        const ids = responses.map(({ headers }) => headers.get('x-request-id'));
        for (const [index, response] of responses.entries()) expectThat(ids[index], 'an X-Request-Id', response);
        expectThat(new Set(ids).size === ids.length, 'a different id for every response', responses[0]);
      },
    ),

    rule(
      'http.docs.open',
      'GET /openapi.yaml, /openapi.json and /docs need no credentials and are not rate limited. Pages of every origin can read the document (CORS).',
      async (users) => {
        for (const path of DOCUMENT_PATHS) expectNoRateLimit(await getDocument(users, path));
        const headers = { Origin: OTHER_ORIGIN };
        for (const path of ['/openapi.yaml', '/openapi.json']) {
          for (const [status, request, sent] of [
            [200, `GET ${path}`, { headers }],
            [200, `HEAD ${path}`, { headers }],
            [204, `OPTIONS ${path}`, { headers: { ...headers, 'Access-Control-Request-Method': 'GET' } }],
          ] as const) {
            const response = await users.anonymous.send(status, request, sent);
            expectEqual(
              response,
              'Access-Control-Allow-Origin',
              response.headers.get('access-control-allow-origin'),
              '*',
            );
            expectThat(
              !response.headers.has('access-control-allow-credentials'),
              'no Access-Control-Allow-Credentials',
              response,
            );
          }
        }
      },
    ),

    rule(
      'http.docs.compressed',
      'The document and /docs may be compressed if Accept-Encoding allows it. Content-Encoding states how.',
      async (users) => {
        for (const path of DOCUMENT_PATHS) {
          const { bytes } = await getDocument(users, path);
          for (const accepted of ['gzip', 'br', 'gzip;q=0, identity']) {
            const response = await getDocument(users, path, { 'Accept-Encoding': accepted });
            const encoding = response.headers.get('content-encoding') ?? 'identity';
            const allowed = ['identity', ...accepted.split(', ')];
            expectThat(allowed.includes(encoding), `a Content-Encoding of ${accepted}`, response);
            const decoded = DECODERS[encoding]?.(response.bytes);
            expectThat(decoded?.equals(bytes), 'the same content as without compression', response);
          }
        }
      },
    ),

    rule(
      'http.docs.redirects',
      'GET and HEAD of /, /docs/ and /docs/index.html redirect to /docs, without credentials or a rate limit. Other methods return 405.',
      async (users) => {
        for (const path of ['/', '/docs/', '/docs/index.html']) {
          for (const method of ['GET', 'HEAD']) {
            const response = await users.anonymous.send(REDIRECTS, `${method} ${path}`);
            const { url } = response.exchange;
            const explorer = new URL(url);
            explorer.pathname = explorer.pathname.slice(0, -path.length).concat('/docs');
            const location = response.headers.get('location') ?? '';
            expectEqual(response, 'Location', new URL(location, url).href, explorer.href);
            expectNoRateLimit(response);
          }
          expectErrorShape(await users.anonymous.send(405, `POST ${path}`));
        }
      },
    ),

    rule(
      'http.docs.operations',
      'The served OpenAPI document describes exactly the operations of the contract.',
      async (users) => {
        const response = await users.anonymous.send(200, 'GET /openapi.json');
        const served = Object.values(
          response.body.paths as Record<string, Record<string, { operationId?: string }>>,
        ).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
        expectEqual(response, 'the operations', served.sort(), contract.map(({ id }) => id).sort());
      },
    ),

    rule(
      'http.cors.closed',
      'Pages of other origins cannot read responses (CORS), unless the operator has allowed their origin.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const headers = { Origin: OTHER_ORIGIN };
        for (const [status, request, sent] of [
          [200, 'GET /auth/me', { headers }],
          [200, 'GET /docs', { headers }],
          [404, 'GET /none', { headers }],
          [400, 'GET /%ff', { headers }],
          [204, 'OPTIONS /posts/create', PREFLIGHT],
        ] as const) {
          const response = await send(status, request, sent);
          const allowed = response.headers.get('access-control-allow-origin');
          expectThat(
            allowed !== '*' && allowed !== OTHER_ORIGIN,
            'no Access-Control-Allow-Origin for another origin',
            response,
          );
        }
      },
    ),

    rule(
      'auth.cookie.accepted',
      'The cookie fc_session_token authenticates a request, including one that changes data.',
      async (users) => {
        const { token } = await users.sharedUser('ada');
        await users.anonymous.send(200, 'GET /auth/me', withCookie(token));
        for (const Cookie of [
          `theme=dark; fc_session_token=${token}; other=1`,
          `theme=dark;fc_session_token=${token};other=1`,
        ])
          await users.anonymous.send(200, 'GET /auth/me', { headers: { Cookie } });
        await users.anonymous.send(201, 'POST /posts/create', {
          ...withCookie(token),
          form: { title: 'A title', text: 'By cookie' },
        });
      },
    ),
  ],
};
