import { contract } from '../document.js';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectErrorShape, expectProblems, expectThat } from '../expect.js';
import { byCookie, publicProfile } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';

const FOREIGN = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' };

/** Beside the contract's operations. */
const DOCUMENTS = ['/docs', '/openapi.yaml', '/openapi.json'];

/** What each address takes, by its path. */
const addresses = [...new Set(contract.map(({ path }) => path)), ...DOCUMENTS].map((path) => {
  const operations = contract.filter((operation) => operation.path === path);
  const methods = operations.length === 0 ? ['GET'] : operations.map(({ method }) => method);
  return {
    path,
    sent: path.replace('{id}', '1').replace('{filename}', 'a.png'),
    allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort(),
  };
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'];

const PREFLIGHT = { headers: { ...FOREIGN, 'Access-Control-Request-Method': 'PUT' } };

/** @throws Broken unless the response has what every one has */
const withHeaders = (answer: CheckedResponse) =>
  expectThat(
    answer.headers.has('x-request-id') && answer.headers.has('x-ratelimit-limit'),
    'the headers of every response',
    answer,
  );

/** Headers in which a response to HEAD equals the one to GET. */
const ALIKE = ['content-type', 'content-length', 'etag', 'cache-control', 'link', 'content-security-policy'];

const listOf = (allow: string | null) => (allow ?? '').split(/, */).sort();

export const overHttp: Subject = {
  name: 'HTTP, cookies and browsers',
  rules: [
    ...addresses.map(({ path, sent, allowed }) =>
      rule(
        `http.methods.${path.slice(1).replace(/[{}]/g, '').replace(/[/_.]/g, '-')}`,
        `${path}: a method that the path does not support returns 405 with Allow; OPTIONS returns 204 with Allow.`,
        async (cast) => {
          const options = await cast.anonymous.send(204, `OPTIONS ${sent}`);
          expectEqual(options, 'Allow', listOf(options.headers.get('allow')), allowed);
          expectEqual(options, 'bytes', options.bytes.length, 0);
          for (const method of METHODS.filter((name) => !allowed.includes(name))) {
            const answer = await cast.anonymous.send(405, `${method} ${sent}`);
            expectEqual(answer, 'Allow', listOf(answer.headers.get('allow')), allowed);
            if (method !== 'HEAD') expectErrorShape(answer);
          }
        },
      ),
    ),

    rule(
      'http.methods.literal-paths',
      'A method that a literal path does not support returns 405: GET /posts/create does not look up a post “create”.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        for (const path of ['/posts/create', '/posts/edit', '/posts/delete', '/posts/like']) {
          await send(405, `GET ${path}`);
          await send(405, `HEAD ${path}`);
        }
        // A path of no operation, so an id.
        await send(404, 'GET /posts/image');
      },
    ),

    rule(
      'http.errors.unknown-path',
      'An unknown path returns 404 by every method, with the JSON body and the headers of every response.',
      async (cast) => {
        const paths = ['/', '/none', '/posts/7/none', '/auth', '/POSTS', '/posts/like/', '//posts', '/*', '/docs/none'];
        for (const path of paths) withHeaders(expectErrorShape(await cast.anonymous.send(404, `GET ${path}`)));
        for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
          expectErrorShape(await cast.anonymous.send(404, `${method} /none`));
        }
        await cast.anonymous.send(404, 'OPTIONS /none', PREFLIGHT);
      },
    ),

    rule(
      'http.errors.undecodable-url',
      'A URL that cannot be decoded returns 400 with the JSON body and the headers of every response.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        for (const [request, problem] of [
          ['GET /posts/%ff', 'path.'],
          ['GET /%?page=1', 'path.'],
          ['POST /posts/%E0%A4%A', 'path.'],
          ['DELETE /auth/sessions/%zz', 'path.'],
          ['OPTIONS /%ff', 'path.'],
          ['GET /posts?limit=%ff', 'query.limit'],
          ['GET /posts?%ff=1', 'query.%ff'],
        ] as const) {
          withHeaders(expectErrorShape(expectProblems(await send(400, request), problem)));
        }
      },
    ),

    rule('http.head.like-get', 'HEAD returns the status and the headers of GET without the body.', async (cast) => {
      const { visitor, owner, post, picture } = await publicProfile(cast);
      for (const path of [
        '/auth/me',
        '/posts?limit=1',
        `/posts/${post.id}`,
        `/profiles/${owner.id}`,
        post.image,
        picture,
        ...DOCUMENTS,
      ]) {
        const [get, head] = [await visitor.send(200, `GET ${path}`), await visitor.send(200, `HEAD ${path}`)];
        expectEqual(head, 'bytes', head.bytes.length, 0);
        // The feed changes while other rules publish posts.
        const changing = path.startsWith('/posts?') ? ['content-length', 'etag'] : [];
        for (const name of ALIKE.filter((name) => !changing.includes(name))) {
          expectEqual(head, name, head.headers.get(name), get.headers.get(name));
        }
      }
    }),

    rule(
      'http.head.errors',
      'HEAD returns 400, 401 and 404 under the same rules as GET, without a body.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        await send(400, 'HEAD /posts?limit=0');
        await send(404, 'HEAD /posts/9007199254740991');
        await send(404, 'HEAD /none');
        await cast.anonymous.send(401, 'HEAD /posts');
      },
    ),

    rule('http.request-id.unique', 'Every response has an X-Request-Id of its own.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      const answers = [
        await send(200, 'GET /auth/me'),
        await send(200, 'GET /auth/me'),
        await send(404, 'GET /none'),
        await cast.anonymous.send(401, 'GET /posts'),
        await cast.anonymous.send(405, 'PATCH /posts'),
        await cast.anonymous.send(204, 'OPTIONS /posts'),
      ];
      const ids = answers.map(({ headers }) => headers.get('x-request-id'));
      for (const [index, answer] of answers.entries()) expectThat(ids[index], 'an X-Request-Id', answer);
      expectThat(new Set(ids).size === ids.length, 'another id for every request', answers[0]);
    }),

    rule(
      'http.docs.open',
      'GET /openapi.yaml, /openapi.json and /docs need no credentials and are not rate limited. Pages of every origin may read the document.',
      async (cast) => {
        for (const [path, type] of [
          ['/openapi.yaml', /yaml/],
          ['/openapi.json', /json/],
          ['/docs', /html/],
        ] as const) {
          const answer = await cast.anonymous.send(200, `GET ${path}`);
          expectThat(type.test(answer.headers.get('content-type') ?? ''), `the type ${type.source}`, answer);
          expectThat(!answer.headers.has('x-ratelimit-limit'), 'no rate limit', answer);
        }
        const headers = { Origin: FOREIGN.Origin };
        for (const path of ['/openapi.yaml', '/openapi.json']) {
          for (const [status, request, sent] of [
            [200, `GET ${path}`, { headers }],
            [200, `HEAD ${path}`, { headers }],
            [204, `OPTIONS ${path}`, { headers: { ...headers, 'Access-Control-Request-Method': 'GET' } }],
          ] as const) {
            const answer = await cast.anonymous.send(status, request, sent);
            expectEqual(answer, 'the origins allowed', answer.headers.get('access-control-allow-origin'), '*');
            expectThat(!answer.headers.has('access-control-allow-credentials'), 'no leave for credentials', answer);
          }
        }
      },
    ),

    rule(
      'http.docs.operations',
      'The served OpenAPI document describes exactly the operations of the contract.',
      async (cast) => {
        const answer = await cast.anonymous.send(200, 'GET /openapi.json');
        const served = Object.values(
          answer.body.paths as Record<string, Record<string, { operationId?: string }>>,
        ).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
        expectEqual(answer, 'the operations', served.sort(), contract.map(({ id }) => id).sort());
      },
    ),

    rule('http.cors.closed', 'CORS is closed unless CORS_ORIGINS names origins.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      const headers = { Origin: FOREIGN.Origin };
      for (const [status, request, sent] of [
        [200, 'GET /auth/me', { headers }],
        [200, 'GET /docs', { headers }],
        [404, 'GET /none', { headers }],
        [400, 'GET /%ff', { headers }],
        [204, 'OPTIONS /posts/create', PREFLIGHT],
      ] as const) {
        const answer = await send(status, request, sent);
        const allowed = answer.headers.get('access-control-allow-origin');
        expectThat(allowed !== '*' && allowed !== FOREIGN.Origin, 'no leave for a page of elsewhere', answer);
      }
    }),

    rule(
      'auth.cookie.accepted',
      'The HttpOnly cookie fc_session_token authenticates a request, also one that changes something.',
      async (cast) => {
        const { token } = await cast.sharedUser('ada');
        await cast.anonymous.send(200, 'GET /auth/me', byCookie(token));
        const Cookie = `theme=dark; fc_session_token=${token}; other=1`;
        await cast.anonymous.send(200, 'GET /auth/me', { headers: { Cookie } });
        await cast.anonymous.send(201, 'POST /posts/create', {
          ...byCookie(token),
          form: { title: 'A title', text: 'By cookie' },
        });
      },
    ),
  ],
};
