import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { listen } from '../support/listen.js';

type Account = Record<'name' | 'username' | 'email' | 'password', string> & { id: number };
type Post = Record<'title' | 'text' | 'created_at', string> & { id: number; author: Account; likes: number[] };

interface Reply {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

interface Request {
  query: URLSearchParams;
  /** The last part of the path. */
  last: string;
  fields: Record<string, string>;
  user: Account;
}

const error = (status: number, code: string, message: string, errors?: object[]): Reply => ({
  status,
  body: { code, message, errors },
});
const ok = (body: unknown = { message: 'Done.' }): Reply => ({ status: 200, body });

/** Returns a 400 response that lists these fields with a code, or undefined if there are no fields. */
function refuse(code: string, fields: string[]): Reply | undefined {
  if (fields.length === 0) return undefined;
  const errors = fields.map((field) => ({ in: 'body', field, code, message: 'is missing or unknown' }));
  return error(400, 'invalid_request', 'The request is not valid.', errors);
}

/** Returns a 400 response that lists the missing fields, or undefined if no field is missing. */
const refuseMissing = (fields: Record<string, string>, ...names: string[]) =>
  refuse(
    'required',
    names.filter((name) => typeof fields[name] !== 'string' || fields[name] === ''),
  );

/**
 * Starts a second, independent implementation of accounts, posts and likes, in memory and on `node:http`. It violates the
 * contract on purpose: login does not normalize the email, a repeated like counts again, a title may consist of
 * spaces, and `POST /posts/create` ignores `author_id`.
 */
async function startSecondService(t: Test): Promise<string> {
  const accounts = new Map<number, Account>();
  const sessions = new Map<string, Account>();
  let posts: Post[] = [];
  let lastId = 0;

  const view = ({ author, likes, ...post }: Post, { id }: Account) => ({
    ...post,
    image: null,
    author_id: author.id,
    author_username: author.username,
    like_count: likes.length,
    liked_by_me: likes.includes(id),
  });
  const withPost = (id: string | null, use: (post: Post) => Reply) => {
    const post = posts.find((each) => String(each.id) === id);
    return post ? use(post) : error(404, 'not_found', 'No such post.');
  };
  const page = (all: Post[], { query, user }: Request) =>
    ok(all.slice(0, Number(query.get('limit') ?? 20)).map((post) => view(post, user)));
  const postsOf = (user: Account) => posts.filter(({ author }) => author === user);

  const publicRoutes: Record<string, (request: Request) => Reply> = {
    'POST /auth/register': ({ fields }) => {
      const { name = '', username = '', password = '' } = fields;
      const refusal = refuseMissing(fields, 'name', 'username', 'email', 'password');
      if (refusal) return refusal;
      const email = fields.email?.trim().toLowerCase() ?? '';
      const isTaken = (field: 'username' | 'email', value: string) =>
        [...accounts.values()].some((other) => other[field] === value);
      if (isTaken('username', username)) return error(409, 'username_taken', 'The username is in use.');
      if (isTaken('email', email)) return error(409, 'email_taken', 'The email is in use.');
      lastId += 1;
      accounts.set(lastId, { id: lastId, name, username, email, password });
      return { status: 201, body: { id: lastId } };
    },
    'POST /auth/login': ({ fields: { email, password, ...others }, fields }) => {
      const refusal = refuseMissing(fields, 'email', 'password') ?? refuse('unknown_field', Object.keys(others));
      if (refusal) return refusal;
      const account = [...accounts.values()].find((each) => each.email === email && each.password === password);
      if (!account) return error(401, 'invalid_credentials', 'The email or the password is wrong.');
      const token = randomUUID();
      sessions.set(token, account);
      const headers = { 'Set-Cookie': `fc_session_token=${token}; HttpOnly; SameSite=Lax; Path=/` };
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      return { ...ok({ id: account.id, token, expires_at }), headers };
    },
  };

  const securedRoutes: Record<string, (request: Request) => Reply> = {
    'GET /auth/me': ({ user: { id, name, username, email } }) => ok({ id, name, username, email }),
    'DELETE /profiles/me': ({ user, fields }) => {
      if (fields.password !== user.password) return error(401, 'invalid_password', 'Invalid password');
      accounts.delete(user.id);
      for (const [token, account] of sessions) if (account === user) sessions.delete(token);
      posts = posts.filter(({ author }) => author !== user);
      return ok();
    },
    'POST /posts/create': ({ user, fields }) => {
      const { title = '', text = '' } = fields;
      const refusal = refuseMissing(fields, 'title', 'text');
      if (refusal) return refusal;
      lastId += 1;
      const post = { id: lastId, title, text, author: user, created_at: new Date().toISOString(), likes: [] };
      posts = [post, ...posts];
      return { status: 201, body: view(post, user) };
    },
    'GET /posts': (request) => page(posts, request),
    'GET /posts/me': (request) => page(postsOf(request.user), request),
    'GET /posts/:id': ({ last, user }) => withPost(last, (post) => ok({ ...view(post, user), comments: [] })),
    'DELETE /posts/delete': ({ query, user }) =>
      withPost(query.get('id'), (post) => {
        if (post.author !== user) return error(404, 'not_found', 'No such post.');
        posts = posts.filter((other) => other !== post);
        return ok();
      }),
    'POST /posts/like': ({ query, user }) =>
      withPost(query.get('id'), ({ likes }) => {
        likes.push(user.id);
        return ok();
      }),
    'DELETE /posts/like': ({ query, user }) =>
      withPost(query.get('id'), (post) => {
        post.likes = post.likes.filter((id) => id !== user.id);
        return ok();
      }),
  };

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams: query } = new URL(`http://host${request.url}`);
    const route = `${request.method} ${pathname}`;
    const handler = publicRoutes[route] ?? securedRoutes[route] ?? securedRoutes[route.replace(/[^/]+$/, ':id')];
    if (!handler) return error(404, 'not_found', 'Not found.');
    const { authorization = '', cookie = '', 'content-type': type = '' } = request.headers;
    const token = /^Bearer (.+)$/.exec(authorization)?.[1] ?? /fc_session_token=([^;]+)/.exec(cookie)?.[1] ?? '';
    const user = sessions.get(token);
    if (!user && !publicRoutes[route])
      return { ...error(401, 'missing_credentials', 'Log in first.'), headers: { 'WWW-Authenticate': 'Bearer' } };
    // A Response parses both forms and JSON.
    const requestBody = new Response(new Uint8Array(await buffer(request)), { headers: { 'Content-Type': type } });
    const isForm = type.startsWith('multipart/form-data');
    const fields = isForm
      ? Object.fromEntries(await requestBody.formData())
      : JSON.parse((await requestBody.text()) || '{}');
    return handler({ query, last: pathname.split('/').at(-1) ?? '', fields, user: user as Account });
  }

  const server = createServer(async (request, response) => {
    const { status, body, headers } = await reply(request);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  return `http://127.0.0.1:${await listen(t, server)}`;
}

/** Rules that the second service fulfills. */
const FULFILLED = [
  'accounts.register.success',
  'accounts.register.username-taken',
  'accounts.register.email-taken',
  'accounts.register.email-is-normalized',
  'accounts.register.body-required',
  'auth.login.success',
  'auth.login.fields',
  'auth.cookie.attributes',
  'auth.me.fields',
  'posts.create.fields',
  'posts.create.created-at',
  'posts.create.required-fields',
  'posts.get.fields',
  'posts.get.missing',
  'posts.delete.success',
  'posts.list.newest-first',
  'posts.list-own.own-posts',
  'likes.unlike.idempotent',
  'likes.like.missing-post',
  'posts.like-count.counts',
];

/** Rules that fail, each because of one violation of the contract by the second service. */
const GAPS = [
  'auth.login.email-is-normalized',
  'likes.like.idempotent',
  'posts.create.blank',
  'posts.create.author-id',
];

t.test('reports exactly the violations of another implementation', async (t) => {
  const selected = new Set([...FULFILLED, ...GAPS]);
  const { results, undeletedAccounts } = await checkContract(await startSecondService(t), {
    selects: ({ id }) => selected.has(id),
  });
  const idsWith = (verdict: string) => results.flatMap((each) => (each.verdict === verdict ? [each.id] : [])).sort();
  t.same(idsWith('failed'), GAPS.toSorted(), { failures: failuresIn(results) });
  t.same(idsWith('passed'), FULFILLED.toSorted());
  t.same(undeletedAccounts, []);
});
