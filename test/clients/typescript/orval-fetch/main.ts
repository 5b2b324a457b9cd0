import { type Connect, runScenario, unionToResult } from '../scenario.js';
import * as api from './client/client.js';

const connect: Connect = (baseUrl, token) => {
  const options = { baseUrl, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
  return {
    register: (registration) => unionToResult(api.register(registration, options)),
    login: (credentials) => unionToResult(api.login(credentials, options)),
    getCurrentAccount: () => unionToResult(api.getCurrentAccount(options)),
    goPrivate: (image) => unionToResult(api.updateProfile({ private: true, image }, options)),
    getProfile: (id) => unionToResult(api.getProfile(id, options)),
    deleteAccount: (password) => unionToResult(api.deleteAccount({ password }, options)),
    createPost: (post, key) =>
      unionToResult(api.createPost(post, { ...options, headers: { ...options.headers, 'Idempotency-Key': key } })),
    getPost: (id) => unionToResult(api.getPost(id, options)),
    listPosts: (page) => unionToResult(api.listPosts(page, options)),
    downloadImage: (filename) => unionToResult(api.getPostImage(filename, options)),
    sendFriendRequest: (to) => unionToResult(api.sendFriendRequest({ to }, options)),
    acceptFriendRequest: (from) => unionToResult(api.acceptFriendRequest({ from }, options)),
  };
};

await runScenario(connect);
