/** Checks responses before anything is measured, because the speed of wrong responses is meaningless. */
import { type AssertionError, deepStrictEqual } from 'node:assert';
import { CommandError } from '../command-error.js';
import type { Dataset } from './dataset.js';
import { IMAGE, uploadForm } from './image.js';
import type { Servers } from './servers.js';
import type { BenchUser } from './users.js';

interface Options {
  token?: string;
  type?: string;
  body?: string | Buffer;
}

/** @param request method and path */
async function send(url: string, request: string, { token, type, body = '' }: Options) {
  const [method = '', path = ''] = request.split(' ');
  const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...(type && { 'Content-Type': type }) };
  const response = await fetch(url + path, { method, headers, ...(body && { body }) });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  const received = isJson ? await response.json() : Buffer.from(await response.arrayBuffer());
  // biome-ignore lint/suspicious/noExplicitAny: the checks compare it
  return { status: response.status, body: received as any };
}

/** @throws CommandError that describes the difference */
export function expectEqual(request: string, actual: unknown, expected: unknown): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    throw new CommandError(`Wrong response to ${request}: ${(error as AssertionError).message}`);
  }
}

async function expectBody(url: string, request: string, { account, token }: BenchUser, body: unknown): Promise<void> {
  expectEqual(`${request} of account ${account.id}`, await send(url, request, { token }), { status: 200, body });
}

async function expectStatus(url: string, request: string, status: number, options: Options = {}) {
  const response = await send(url, request, options);
  expectEqual(request, response.status, status);
  return response.body;
}

/** @throws CommandError at the first wrong response */
export async function checkServers({ service, against, withoutRedis, posts, account, files }: Servers, data: Dataset) {
  for (const server of [service, against, withoutRedis]) if (server) await checkService(server.url, data);
  for (const user of data.users) {
    if (posts) await expectBody(posts.url, 'GET /posts', user, user.pages[0]);
    if (account) await expectBody(account.url, 'GET /auth/me', user, user.account);
  }
  if (files) {
    await expectStatus(files.url, 'POST /files', 201, { type: 'image/png', body: IMAGE });
    expectEqual('GET /files/1', await expectStatus(files.url, 'GET /files/1', 200), IMAGE);
  }
}

async function checkService(url: string, { users, offsets, loginEmails: [email], password }: Dataset): Promise<void> {
  for (const user of users) {
    for (const [index, page] of user.pages.entries()) {
      await expectBody(url, `GET /posts?offset=${[0, ...offsets][index]}`, user, page);
    }
    for (const post of user.pages[0]?.slice(0, 5) ?? []) {
      await expectBody(url, `GET /posts/${post.id}`, user, { ...post, comments: [] });
    }
    await expectStatus(url, `GET /posts/${user.hiddenPostId}`, 404, user);
    await expectBody(url, 'GET /auth/me', user, user.account);
    await checkLike(url, user);
  }
  await expectStatus(url, 'GET /posts', 401);

  const credentials = (attempt: string) => ({
    type: 'application/json',
    body: JSON.stringify({ email, password: attempt }),
  });
  await expectStatus(url, 'POST /auth/login', 401, credentials(`${password}?`));
  const { token } = await expectStatus(url, 'POST /auth/login', 200, credentials(password));
  expectEqual('GET /auth/me after a login', (await expectStatus(url, 'GET /auth/me', 200, { token })).email, email);

  const [user] = users;
  if (!user) throw new Error('Expected users');
  const { id, image } = await createPost(url, user);
  await expectBody(url, `GET ${image}`, user, IMAGE);
  await expectStatus(url, `DELETE /posts/delete?id=${id}`, 200, user);
}

/** Changes a like and changes it back. */
async function checkLike(url: string, user: BenchUser): Promise<void> {
  const post = user.pages[0]?.[0];
  if (!post) throw new Error('Expected a page of posts');
  for (const liked_by_me of [!post.liked_by_me, post.liked_by_me]) {
    await expectStatus(url, `${liked_by_me ? 'POST' : 'DELETE'} /posts/like?id=${post.id}`, 200, user);
    const like_count = post.like_count - Number(post.liked_by_me) + Number(liked_by_me);
    await expectBody(url, `GET /posts/${post.id}`, user, { ...post, like_count, liked_by_me, comments: [] });
  }
}

/** Creates a post with an image. */
export async function createPost(url: string, { token }: BenchUser): Promise<{ id: number; image: string }> {
  const { type, bytes } = await uploadForm();
  return expectStatus(url, 'POST /posts/create', 201, { token, type, body: bytes });
}
