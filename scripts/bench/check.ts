/**
 * Checks responses before anything is measured, because the speed of wrong responses is meaningless. The expected responses
 * come from a scan of the stores (`expected-answers.ts`), not from the service.
 */
import { isDeepStrictEqual } from 'node:util';
import type { BenchUser, Dataset } from './data.js';
import { IMAGE, uploadForm } from './image.js';

/** A description of a wrong response, or undefined if it is correct. */
type Mismatch = string | undefined;

interface ApiResponse {
  status: number;
  body: unknown;
}

async function send(
  url: string,
  path: string,
  user: BenchUser | undefined,
  init: RequestInit = {},
): Promise<ApiResponse> {
  const headers = { ...(user && { Authorization: `Bearer ${user.token}` }), ...(init.headers as object) };
  const response = await fetch(url + path, { ...init, headers });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? await response.json() : Buffer.from(await response.arrayBuffer()) };
}

/** Describes the first difference between two values, with its path. Returns undefined if they are equal. */
export function findDifference(actual: unknown, expected: unknown, path = 'body'): Mismatch {
  if (isDeepStrictEqual(actual, expected)) return undefined;
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isObject(actual) || !isObject(expected))
    return `${path} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = findDifference(actual[key], expected[key], `${path}.${key}`);
    if (difference !== undefined) return difference;
  }
  return `${path} has a different type`;
}

function checkResponse({ status, body }: ApiResponse, expectedStatus: number, expectedBody?: unknown): Mismatch {
  if (status !== expectedStatus) return `status is ${status}, expected ${expectedStatus}`;
  return expectedBody === undefined ? undefined : findDifference(body, expectedBody);
}

/** Sends requests like those of the workloads, and returns descriptions of wrong responses. */
export async function checkService(url: string, dataset: Dataset): Promise<string[]> {
  const mismatches: string[] = [];
  const record = (request: string, mismatch: Mismatch) => {
    if (mismatch !== undefined) mismatches.push(`${dataset.name}: ${request}: ${mismatch}`);
  };
  const { expected, size } = dataset;
  for (const user of dataset.checkedUsers) {
    const visible = [...expected.visiblePostIds(user.id)];
    for (const offset of [0, size.offset, size.deepOffset]) {
      const page = visible.slice(offset, offset + 20).map((id) => expected.post(user.id, id));
      const path = `/posts?limit=20&offset=${offset}`;
      record(`GET ${path} of account ${user.id}`, checkResponse(await send(url, path, user), 200, page));
    }
    for (const id of visible.slice(0, 5)) {
      const post = { ...expected.post(user.id, id), comments: [] };
      record(`GET /posts/${id} of account ${user.id}`, checkResponse(await send(url, `/posts/${id}`, user), 200, post));
    }
    const hidden = expected.firstHiddenPostId(user.id);
    if (hidden !== undefined) {
      const response = await send(url, `/posts/${hidden}`, user);
      record(`GET /posts/${hidden} of account ${user.id}`, checkResponse(response, 404));
    }
    const { token: _, ...account } = user;
    const me = await send(url, '/auth/me', user);
    record(`GET /auth/me of account ${user.id}`, checkResponse(me, 200, account));
  }
  record('GET /posts without a token', checkResponse(await send(url, '/posts', undefined), 401));
  await checkWrites(url, dataset, record);
  return mismatches;
}

/**
 * Checks likes, logins and an image upload, and that later requests return their effects. Restores the like and deletes the
 * post.
 */
async function checkWrites(
  url: string,
  dataset: Dataset,
  record: (request: string, mismatch: Mismatch) => void,
): Promise<void> {
  const [user] = dataset.users;
  const [id] = dataset.publicPostIds;
  if (!user || id === undefined) throw new Error('Expected a dataset with users and public posts');
  const before = (await send(url, `/posts/${id}`, user)).body as { like_count: number; liked_by_me: boolean };
  const otherLikes = before.like_count - Number(before.liked_by_me);
  for (const [method, liked] of before.liked_by_me ? UNLIKE_FIRST : LIKE_FIRST) {
    record(`${method} /posts/like`, checkResponse(await send(url, `/posts/like?id=${id}`, user, { method }), 200));
    const after = await send(url, `/posts/${id}`, user);
    const expected = { ...before, like_count: otherLikes + Number(liked), liked_by_me: liked };
    record(`GET /posts/${id} after ${method} /posts/like`, checkResponse(after, 200, expected));
  }

  const login = (password: string) =>
    send(url, '/auth/login', undefined, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: user.email, password }),
    });
  record('POST /auth/login with a wrong password', checkResponse(await login(`${dataset.password}?`), 401));
  const { status, body } = await login(dataset.password);
  record('POST /auth/login', checkResponse({ status, body: (body as BenchUser).id }, 200, user.id));
  const me = await send(url, '/auth/me', { ...user, ...(body as BenchUser) });
  record('GET /auth/me after the login', checkResponse(me, 200));

  const { headers, bytes } = uploadForm();
  const created = await send(url, '/posts/create', user, { method: 'POST', headers, body: bytes });
  record('POST /posts/create', checkResponse(created, 201));
  const { id: post, image } = created.body as { id: number; image: string };
  record(`GET ${image}`, checkImage(await send(url, image, user)));
  const deleted = await send(url, `/posts/delete?id=${post}`, user, { method: 'DELETE' });
  record('DELETE /posts/delete', checkResponse(deleted, 200));
}

const LIKE_FIRST = [
  ['POST', true],
  ['DELETE', false],
] as const;
const UNLIKE_FIRST = [LIKE_FIRST[1], LIKE_FIRST[0]] as const;

/**
 * Checks the posts that a baseline sends.
 *
 * @param user if given, the baseline must also reject requests without a token
 */
export async function checkBaseline(url: string, posts: unknown, user?: BenchUser): Promise<string[]> {
  const mismatches = [checkResponse(await send(url, '/posts', user), 200, posts)];
  if (user) mismatches.push(checkResponse(await send(url, '/posts', undefined), 401));
  return mismatches.flatMap((mismatch) => (mismatch === undefined ? [] : [`baseline: GET /posts: ${mismatch}`]));
}

/** Checks an upload to the files baseline, which must get the id 1, and its download. */
export async function checkFilesBaseline(url: string): Promise<string[]> {
  const headers = { 'Content-Type': 'image/png' };
  const { body } = await send(url, '/files', undefined, { method: 'POST', headers, body: IMAGE });
  const file = await send(url, '/files/1', undefined);
  const mismatch = findDifference(body, { id: 1 }) ?? checkImage(file);
  return mismatch === undefined ? [] : [`baseline: GET /files: ${mismatch}`];
}

const checkImage = ({ body }: ApiResponse): Mismatch =>
  Buffer.isBuffer(body) && body.equals(IMAGE) ? undefined : 'the bytes differ from the uploaded image';
