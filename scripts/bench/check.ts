/** Checks responses before anything is measured, because the speed of wrong responses is meaningless. */
import { type AssertionError, deepStrictEqual } from 'node:assert';
import { CommandError } from '../command-error.js';
import { pngBlob, type RequestOptions, send } from '../request.js';
import type { Dataset } from './dataset.js';
import { IMAGE, uploadForm } from './image.js';
import type { Servers } from './servers.js';
import type { BenchUser } from './users.js';

/** @throws CommandError that describes the difference */
export function expectEqual(request: string, actual: unknown, expected: unknown): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    throw new CommandError(`Wrong response to ${request}: ${(error as AssertionError).message}`);
  }
}

async function expectBody(url: string, request: string, { account, token }: BenchUser, body: unknown): Promise<void> {
  const { status, json, bytes } = await send(url, request, { token });
  expectEqual(`${request} of account ${account.id}`, { status, body: json ?? bytes }, { status: 200, body });
}

/** Returns the body: parsed JSON, or bytes. */
async function expectStatus(url: string, request: string, expected: number, options: RequestOptions = {}) {
  const { status, json, bytes } = await send(url, request, options);
  expectEqual(request, status, expected);
  return json ?? bytes;
}

/** @throws CommandError at the first wrong response */
export async function checkServers({ service, against, withoutRedis, posts, account, files }: Servers, data: Dataset) {
  for (const server of [service, against, withoutRedis]) if (server) await checkService(server.url, data);
  for (const user of data.users) {
    if (posts) await expectBody(posts.url, 'GET /posts', user, user.pages[0]);
    if (account) await expectBody(account.url, 'GET /auth/me', user, user.account);
  }
  if (files) {
    await expectStatus(files.url, 'POST /files', 201, { body: pngBlob(IMAGE) });
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

  await expectStatus(url, 'POST /auth/login', 401, { json: { email, password: `${password}?` } });
  const { token } = await expectStatus(url, 'POST /auth/login', 200, { json: { email, password } });
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
export const createPost = (url: string, { token }: BenchUser): Promise<{ id: number; image: string }> =>
  expectStatus(url, 'POST /posts/create', 201, { token, body: uploadForm() });
