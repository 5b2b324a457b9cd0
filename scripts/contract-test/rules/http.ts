import { contract } from '../document.js';
import { errorShape, rule, type Subject, same, want } from '../rule.js';
import { byCookie, openHouse } from '../scenes.js';
import { bodyOf, sound } from './operations.js';

const DECIDED = 'Status codes';
const FOREIGN = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' };

/** What each address takes, by its path. */
const addresses = [...new Set(contract.map(({ path }) => path))].map((path) => {
  const methods = contract.filter((operation) => operation.path === path).map(({ method }) => method);
  return {
    path,
    sent: path.replace('{id}', '1').replace('{filename}', 'a.png'),
    allowed: [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort(),
  };
});

const listOf = (allow: string | null) => (allow ?? '').split(/, */).sort();

const unsafe = contract.filter(({ secured, method }) => secured && method !== 'GET');

export const overHttp: Subject = {
  name: 'HTTP, cookies and browsers',
  rules: [
    ...addresses.map(({ path, sent, allowed }) =>
      rule(DECIDED, `a method that a path lacks: 405 with Allow; OPTIONS is 204 with Allow: ${path}`, async (cast) => {
        const options = await cast.nobody.ask(204, `OPTIONS ${sent}`);
        same(options, 'Allow', listOf(options.headers.get('allow')), allowed);
        for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE'].filter(
          (name) => !allowed.includes(name),
        )) {
          const answer = await cast.nobody.ask(405, `${method} ${sent}`);
          same(answer, 'Allow', listOf(answer.headers.get('allow')), allowed);
          errorShape(answer);
        }
      }),
    ),

    rule(DECIDED, 'on literal paths too: GET /posts/create is 405, not a look-up of post create', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const path of ['/posts/create', '/posts/edit', '/posts/delete', '/posts/like'])
        await ask(405, `GET ${path}`);
    }),

    rule('Representation, errors', 'Unknown route: 404 in the same shape', async (cast) => {
      for (const path of ['/', '/none', '/posts/7/none', '/auth'])
        errorShape(await cast.nobody.ask(404, `GET ${path}`));
    }),

    rule('Rules', 'An undecodable URL is 400, in the same shape, with the same headers', async (cast) => {
      const answer = errorShape(await cast.nobody.ask(400, 'GET /posts/%ff'));
      want(
        answer.headers.has('x-request-id') && answer.headers.has('x-ratelimit-limit'),
        'the headers of any answer',
        answer,
      );
    }),

    rule('Order of answers', 'HEAD is GET without the body', async (cast) => {
      const { visitor, owner, post, picture } = await openHouse(cast);
      for (const path of [
        '/auth/me',
        '/posts?limit=1',
        `/posts/${post.id}`,
        `/profiles/${owner.id}`,
        post.image,
        picture,
      ]) {
        const [get, head] = [await visitor.ask(200, `GET ${path}`), await visitor.ask(200, `HEAD ${path}`)];
        same(head, 'bytes', head.bytes.length, 0);
        for (const name of ['content-type', 'etag']) same(head, name, head.headers.get(name), get.headers.get(name));
      }
    }),

    rule('Order of answers', 'HEAD under the same rules: 400, 401 and 404 without a body', async (cast) => {
      const { ask } = await cast.person('ada');
      await ask(400, 'HEAD /posts?limit=0');
      await ask(404, 'HEAD /posts/9007199254740991');
      await cast.nobody.ask(401, 'HEAD /posts');
    }),

    rule('Beyond the contract', 'Every answer has a request id, each its own', async (cast) => {
      const { ask } = await cast.person('ada');
      const answers = [
        await ask(200, 'GET /auth/me'),
        await ask(200, 'GET /auth/me'),
        await ask(404, 'GET /none'),
        await cast.nobody.ask(401, 'GET /posts'),
        await cast.nobody.ask(405, 'PATCH /posts'),
        await cast.nobody.ask(204, 'OPTIONS /posts'),
      ];
      const ids = answers.map(({ headers }) => headers.get('x-request-id'));
      for (const [index, answer] of answers.entries()) want(ids[index], 'an X-Request-Id', answer);
      want(new Set(ids).size === ids.length, 'another id for every request', answers[0]);
    }),

    rule(
      'Beyond the contract',
      'GET /openapi.yaml and GET /openapi.json need no credentials and count in no limit',
      async (cast) => {
        for (const [path, type] of [
          ['/openapi.yaml', /yaml/],
          ['/openapi.json', /json/],
          ['/docs', /html/],
        ] as const) {
          const answer = await cast.nobody.ask(200, `GET ${path}`);
          want(type.test(answer.headers.get('content-type') ?? ''), `the type ${type.source}`, answer);
          want(!answer.headers.has('x-ratelimit-limit'), 'no rate limit', answer);
        }
      },
    ),

    rule('Beyond the contract', 'The document served describes the operations of the contract', async (cast) => {
      const answer = await cast.nobody.ask(200, 'GET /openapi.json');
      const served = Object.values(
        answer.body.paths as Record<string, Record<string, { operationId?: string }>>,
      ).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
      same(answer, 'the operations', served.sort(), contract.map(({ id }) => id).sort());
    }),

    rule('Beyond the contract', 'CORS is closed unless CORS_ORIGINS names origins', async (cast) => {
      const answer = await (await cast.person('ada')).ask(200, 'GET /auth/me', { headers: { Origin: FOREIGN.Origin } });
      const allowed = answer.headers.get('access-control-allow-origin');
      want(allowed !== '*' && allowed !== FOREIGN.Origin, 'no leave for a page of elsewhere', answer);
    }),

    rule(
      'Authentication 1',
      'credentials: the HttpOnly cookie fc_session_token, for unsafe requests as well',
      async (cast) => {
        const { token } = await cast.person('ada');
        await cast.nobody.ask(200, 'GET /auth/me', byCookie(token));
        await cast.nobody.ask(201, 'POST /posts/create', {
          ...byCookie(token),
          form: { title: 'A title', text: 'By cookie' },
        });
      },
    ),

    ...unsafe.map((operation) =>
      rule(
        DECIDED,
        `an unsafe request by the cookie alone that comes from another site: 403: ${operation.method} ${operation.path}`,
        async (cast) => {
          const { token } = await cast.person('ada');
          const { headers } = byCookie(token, FOREIGN);
          errorShape(
            await cast.nobody.ask(403, sound(operation, ['page=1']), { ...bodyOf(operation), headers: headers ?? {} }),
          );
        },
      ),
    ),

    rule(DECIDED, 'Sec-Fetch-Site, if sent, alone decides: same-origin and none pass', async (cast) => {
      const { token } = await cast.person('ada');
      const like = 'POST /posts/like?id=9007199254740991';
      for (const [site, wanted] of [
        ['same-origin', 404],
        ['none', 404],
        ['same-site', 403],
        ['cross-site', 403],
      ] as const) {
        await cast.nobody.ask(wanted, like, byCookie(token, { 'Sec-Fetch-Site': site }));
      }
    }),

    rule(DECIDED, 'an Origin passes only if its host is the request’s Host', async (cast) => {
      const { token } = await cast.person('ada');
      const like = 'POST /posts/like?id=9007199254740991';
      for (const Origin of [FOREIGN.Origin, 'null']) await cast.nobody.ask(403, like, byCookie(token, { Origin }));
    }),

    rule(
      DECIDED,
      'a request with neither header is no browser’s and passes; with a bearer token any passes',
      async (cast) => {
        const { token, ask } = await cast.person('ada');
        const like = 'POST /posts/like?id=9007199254740991';
        await cast.nobody.ask(404, like, byCookie(token));
        await ask(404, like, { headers: FOREIGN });
        await cast.nobody.ask(200, 'GET /auth/me', byCookie(token, FOREIGN));
      },
    ),
  ],
};
