import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import { type Connect, runScenario, toResult } from '../scenario.js';
import { publish, toForm } from './example.js';
import type { paths } from './types.js';

const form = { bodySerializer: toForm };

const connect: Connect = (baseUrl, token) => {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const { GET, POST, PUT, DELETE } = createClient<paths>({ baseUrl, headers });
  return {
    register: (body) => toResult(POST('/auth/register', { body })),
    login: (body) => toResult(POST('/auth/login', { body })),
    getCurrentAccount: () => toResult(GET('/auth/me')),
    goPrivate: (image) => toResult(PUT('/profiles/me', { body: { private: true, image }, ...form })),
    getProfile: (id) => toResult(GET('/profiles/{id}', { params: { path: { id } } })),
    deleteAccount: (password) => toResult(DELETE('/profiles/me', { body: { password } })),
    createPost: (body, key) =>
      toResult(POST('/posts/create', { params: { header: { 'Idempotency-Key': key } }, body, ...form })),
    getPost: (id) => toResult(GET('/posts/{id}', { params: { path: { id } } })),
    listPosts: (query) => toResult(GET('/posts', { params: { query } })),
    downloadImage: (filename) =>
      toResult(GET('/posts/image/{filename}', { params: { path: { filename } }, parseAs: 'blob' })),
    sendFriendRequest: (to) => toResult(POST('/friends/request', { params: { query: { to } } })),
    acceptFriendRequest: (from) => toResult(POST('/friends/accept', { params: { query: { from } } })),
  };
};

await runScenario(connect);

const { BASE_URL = '', IMAGE = '' } = process.env;
const image = new Blob([await readFile(IMAGE)], { type: 'image/jpeg' });
const { data: post, response } = await publish(BASE_URL, image);
assert.equal(post?.title, 'Good morning');
assert.match(post.image ?? '', /^\/posts\/image\/.+\.jpg$/);
assert.equal(response.headers.get('location'), `/posts/${post.id}`);
