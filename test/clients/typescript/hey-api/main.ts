import { type Connect, runScenario, toResult } from '../scenario.js';
import { createClient } from './client/client/index.js';
import * as api from './client/index.js';

const connect: Connect = (baseUrl, token) => {
  const client = createClient({ baseUrl, auth: token });
  return {
    register: (body) => toResult(api.register({ client, body })),
    login: (body) => toResult(api.login({ client, body })),
    getCurrentAccount: () => toResult(api.getCurrentAccount({ client })),
    goPrivate: (image) => toResult(api.updateProfile({ client, body: { private: true, image } })),
    getProfile: (id) => toResult(api.getProfile({ client, path: { id } })),
    deleteAccount: (password) => toResult(api.deleteAccount({ client, body: { password } })),
    createPost: (body, key) => toResult(api.createPost({ client, body, headers: { 'Idempotency-Key': key } })),
    getPost: (id) => toResult(api.getPost({ client, path: { id } })),
    listPosts: (query) => toResult(api.listPosts({ client, query })),
    downloadImage: (filename) => toResult(api.getPostImage({ client, path: { filename } })),
    sendFriendRequest: (to) => toResult(api.sendFriendRequest({ client, query: { to } })),
    acceptFriendRequest: (from) => toResult(api.acceptFriendRequest({ client, query: { from } })),
  };
};

await runScenario(connect);
