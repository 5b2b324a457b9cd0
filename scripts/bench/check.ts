import { isDeepStrictEqual } from 'node:util';
import type { Caller, Data } from './data.js';
import { IMAGE, uploadForm } from './image.js';

/** Says what is wrong with an answer, or nothing. */
type Problem = string | undefined;

interface Answer {
  status: number;
  body: unknown;
}

async function ask(url: string, path: string, caller: Caller | undefined, init: RequestInit = {}): Promise<Answer> {
  const headers = { ...(caller && { Authorization: `Bearer ${caller.token}` }), ...(init.headers as object) };
  const response = await fetch(url + path, { ...init, headers });
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? await response.json() : Buffer.from(await response.arrayBuffer()) };
}

/** Where two values differ first, as a path; undefined when they are the same. */
export function difference(actual: unknown, expected: unknown, path = 'the body'): Problem {
  if (isDeepStrictEqual(actual, expected)) return undefined;
  const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isTree(actual) || !isTree(expected))
    return `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = difference(actual[key], expected[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return `${path} is of another kind`;
}

function differs({ status, body }: Answer, expectedStatus: number, expected?: unknown): Problem {
  if (status !== expectedStatus) return `the status is ${status}, not ${expectedStatus}`;
  return expected === undefined ? undefined : difference(body, expected);
}

/** What the bench's questions should answer, by what the stores hold. */
export async function checkService(url: string, data: Data): Promise<string[]> {
  const problems: string[] = [];
  const note = (what: string, problem: Problem) => {
    if (problem !== undefined) problems.push(`${data.name}: ${what}: ${problem}`);
  };
  for (const caller of data.checked) {
    const { truth, size } = data;
    const visible = [...truth.visible(caller.id)];
    for (const offset of [0, size.offset, size.deepOffset]) {
      const page = visible.slice(offset, offset + 20).map((id) => truth.post(caller.id, id));
      const path = `/posts?limit=20&offset=${offset}`;
      note(`GET ${path} of account ${caller.id}`, differs(await ask(url, path, caller), 200, page));
    }
    for (const id of visible.slice(0, 5)) {
      const expected = { ...truth.post(caller.id, id), comments: [] };
      note(`GET /posts/${id} of account ${caller.id}`, differs(await ask(url, `/posts/${id}`, caller), 200, expected));
    }
    const hidden = truth.hidden(caller.id);
    if (hidden !== undefined) {
      note(`GET /posts/${hidden} of account ${caller.id}`, differs(await ask(url, `/posts/${hidden}`, caller), 404));
    }
    const { token: _, ...account } = caller;
    const me = await ask(url, '/auth/me', caller);
    note(`GET /auth/me of account ${caller.id}`, differs(me, 200, account));
  }
  note('GET /posts of nobody', differs(await ask(url, '/posts', undefined), 401));
  await checkWrites(url, data, note);
  return problems;
}

/** A like, a login and an image, each followed by a look whether it holds. */
async function checkWrites(url: string, data: Data, note: (what: string, problem: Problem) => void): Promise<void> {
  const [caller] = data.callers;
  const [id] = data.publicPosts;
  if (!caller || id === undefined) throw new Error('there is nobody to ask');
  const before = (await ask(url, `/posts/${id}`, caller)).body as { like_count: number; liked_by_me: boolean };
  const others = before.like_count - Number(before.liked_by_me);
  for (const [method, liked] of before.liked_by_me ? UNLIKE_FIRST : LIKE_FIRST) {
    note(`${method} /posts/like`, differs(await ask(url, `/posts/like?id=${id}`, caller, { method }), 200));
    const after = await ask(url, `/posts/${id}`, caller);
    const expected = { ...before, like_count: others + Number(liked), liked_by_me: liked };
    note(`GET /posts/${id} after ${method} /posts/like`, differs(after, 200, expected));
  }

  const login = (password: string) =>
    ask(url, '/auth/login', undefined, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: caller.email, password }),
    });
  note('POST /auth/login with a wrong password', differs(await login(`${data.password}?`), 401));
  const { status, body } = await login(data.password);
  note('POST /auth/login', differs({ status, body: (body as Caller).id }, 200, caller.id));
  note('GET /auth/me after it', differs(await ask(url, '/auth/me', { ...caller, ...(body as Caller) }), 200));

  const { headers, bytes } = uploadForm();
  const created = await ask(url, '/posts/create', caller, { method: 'POST', headers, body: bytes });
  note('POST /posts/create', differs(created, 201));
  const { id: post, image } = created.body as { id: number; image: string };
  const down = await ask(url, image, caller);
  note(`GET ${image}`, sameBytes(down));
  note('DELETE /posts/delete', differs(await ask(url, `/posts/delete?id=${post}`, caller, { method: 'DELETE' }), 200));
}

const LIKE_FIRST = [
  ['POST', true],
  ['DELETE', false],
] as const;
const UNLIKE_FIRST = [LIKE_FIRST[1], LIKE_FIRST[0]] as const;

/** The posts that the yardsticks send, and that those of a session send to nobody else. */
export async function checkYardstick(url: string, posts: unknown, caller?: Caller): Promise<string[]> {
  const problems = [differs(await ask(url, '/posts', caller), 200, posts)];
  if (caller) problems.push(differs(await ask(url, '/posts', undefined), 401));
  return problems.flatMap((problem) => (problem === undefined ? [] : [`a yardstick: GET /posts: ${problem}`]));
}

/** The first file that is stored is number 1. */
export async function checkFiles(url: string): Promise<string[]> {
  const headers = { 'Content-Type': 'image/png' };
  const { body } = await ask(url, '/files', undefined, { method: 'POST', headers, body: IMAGE });
  const down = await ask(url, '/files/1', undefined);
  const problem = difference(body, { id: 1 }) ?? sameBytes(down);
  return problem === undefined ? [] : [`a yardstick: GET /files: ${problem}`];
}

const sameBytes = ({ body }: Answer): Problem =>
  Buffer.isBuffer(body) && body.equals(IMAGE) ? undefined : 'the bytes are others';
