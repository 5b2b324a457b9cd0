import { type Connect, runScenario, toResult } from '../scenario.js';
import { createClient } from './client/client/index.js';
import * as api from './client/index.js';

const connect: Connect = (baseUrl, token) => {
  const client = createClient({ baseUrl, auth: token });
  return {
    register: (body) => toResult(api.register({ client, body })),
    login: (body) => toResult(api.login({ client, body })),
    getCurrentAccount: () => toResult(api.getCurrentAccount({ client })),
    changePicture: (image) => toResult(api.updateProfile({ client, body: { image } })),
    goPrivate: () => toResult(api.updateProfile({ client, body: { private: true } })),
    getProfile: (id) => toResult(api.getProfile({ client, path: { id } })),
    downloadPicture: (filename) => toResult(api.getProfileImage({ client, path: { filename } })),
    deleteAccount: (password) => toResult(api.deleteAccount({ client, body: { password } })),
    createPost: (body, key) => toResult(api.createPost({ client, body, headers: { 'Idempotency-Key': key } })),
    getPost: (id) => toResult(api.getPost({ client, path: { id } })),
    listPosts: (query) => toResult(api.listPosts({ client, query })),
    likePost: (id) => toResult(api.likePost({ client, query: { id } })),
    downloadImage: (filename) => toResult(api.getPostImage({ client, path: { filename } })),
    sendFriendRequest: (to) => toResult(api.sendFriendRequest({ client, query: { to } })),
    acceptFriendRequest: (from) => toResult(api.acceptFriendRequest({ client, query: { from } })),
  };
};

await runScenario(connect);
