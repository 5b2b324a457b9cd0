import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import { type Answer, type Connect, play, type Refusal } from '../scenario.js';
import { publish } from './example.js';
import type { paths } from './types.js';

async function answer<Body>(
  asked: Promise<{ data?: Body | undefined; error?: Refusal | undefined; response: Response }>,
): Promise<Answer<Body>> {
  const { data, error, response } = await asked;
  if (data !== undefined) return { status: response.status, body: data };
  if (error !== undefined) return { status: response.status, error };
  throw new Error(`${response.url} answers ${response.status} with nothing`);
}

/** The library makes JSON of a body unless it is told how to make a form of it. */
function formOf(fields: Record<string, string | boolean | Blob | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) form.append(name, value instanceof Blob ? value : String(value));
  }
  return form;
}

const form = { bodySerializer: formOf };

const connect: Connect = (baseUrl, token) => {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const { GET, POST, PUT, DELETE } = createClient<paths>({ baseUrl, headers });
  return {
    register: (body) => answer(POST('/auth/register', { body })),
    login: (body) => answer(POST('/auth/login', { body })),
    getCurrentAccount: () => answer(GET('/auth/me')),
    changePicture: (image) => answer(PUT('/profiles/me', { body: { image }, ...form })),
    goPrivate: () => answer(PUT('/profiles/me', { body: { private: true }, ...form })),
    getProfile: (id) => answer(GET('/profiles/{id}', { params: { path: { id } } })),
    downloadPicture: (filename) =>
      answer(GET('/profiles/image/{filename}', { params: { path: { filename } }, parseAs: 'blob' })),
    deleteAccount: (password) => answer(DELETE('/profiles/me', { body: { password } })),
    createPost: (body, key) =>
      answer(POST('/posts/create', { params: { header: { 'Idempotency-Key': key } }, body, ...form })),
    getPost: (id) => answer(GET('/posts/{id}', { params: { path: { id } } })),
    listPosts: (query) => answer(GET('/posts', { params: { query } })),
    likePost: (id) => answer(POST('/posts/like', { params: { query: { id } } })),
    downloadImage: (filename) =>
      answer(GET('/posts/image/{filename}', { params: { path: { filename } }, parseAs: 'blob' })),
    sendFriendRequest: (to) => answer(POST('/friends/request', { params: { query: { to } } })),
    acceptFriendRequest: (from) => answer(POST('/friends/accept', { params: { query: { from } } })),
  };
};

await play(connect);

const { BASE_URL = '', IMAGE = '' } = process.env;
const image = new Blob([await readFile(IMAGE)], { type: 'image/jpeg' });
const { data: post, response } = await publish(BASE_URL, image);
assert.equal(post?.title, 'Good morning');
assert.match(post.image ?? '', /^\/posts\/image\/.+\.jpg$/);
assert.equal(response.headers.get('location'), `/posts/${post.id}`);

const { error } = await createClient<paths>({ baseUrl: BASE_URL }).GET('/auth/me');
assert.equal(error?.code, 'missing_credentials');
