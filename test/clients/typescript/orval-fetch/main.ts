import { type Connect, runScenario, unionToResult } from '../scenario.js';
import * as api from './client/client.js';

const connect: Connect = (baseUrl, token) => {
  const options = { baseUrl, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
  return {
    register: (registration) => unionToResult(api.register(registration, options)),
    login: (credentials) => unionToResult(api.login(credentials, options)),
    getCurrentAccount: () => unionToResult(api.getCurrentAccount(options)),
    changePicture: (image) => unionToResult(api.updateProfile({ image }, options)),
    goPrivate: () => unionToResult(api.updateProfile({ private: true }, options)),
    getProfile: (id) => unionToResult(api.getProfile(id, options)),
    downloadPicture: (filename) => unionToResult(api.getProfileImage(filename, options)),
    deleteAccount: (password) => unionToResult(api.deleteAccount({ password }, options)),
    createPost: (post, key) =>
      unionToResult(api.createPost(post, { ...options, headers: { ...options.headers, 'Idempotency-Key': key } })),
    getPost: (id) => unionToResult(api.getPost(id, options)),
    listPosts: (page) => unionToResult(api.listPosts(page, options)),
    likePost: (id) => unionToResult(api.likePost({ id }, options)),
    downloadImage: (filename) => unionToResult(api.getPostImage(filename, options)),
    sendFriendRequest: (to) => unionToResult(api.sendFriendRequest({ to }, options)),
    acceptFriendRequest: (from) => unionToResult(api.acceptFriendRequest({ from }, options)),
  };
};

await runScenario(connect);
