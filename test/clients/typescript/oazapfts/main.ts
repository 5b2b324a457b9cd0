import { type Connect, type ErrorBody, type Result, runScenario, unionToResult } from '../scenario.js';
import * as api from './client/client.js';

const connect: Connect = (baseUrl, token) => {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const options = { baseUrl, headers };
  /** The generated functions decode the bytes of an image as text. */
  const download = async (path: string): Promise<Result<Blob>> => {
    const response = await fetch(baseUrl + path, options);
    const { status } = response;
    return response.ok
      ? { status, body: await response.blob() }
      : { status, error: (await response.json()) as ErrorBody };
  };
  return {
    register: (registration) => unionToResult(api.register(registration, options)),
    login: (credentials) => unionToResult(api.login(credentials, options)),
    getCurrentAccount: () => unionToResult(api.getCurrentAccount(options)),
    changePicture: (image) => unionToResult(api.updateProfile({ image }, options)),
    goPrivate: () => unionToResult(api.updateProfile({ private: true }, options)),
    getProfile: (id) => unionToResult(api.getProfile(id, options)),
    downloadPicture: (filename) => download(`/profiles/image/${filename}`),
    deleteAccount: (password) => unionToResult(api.deleteAccount({ password }, options)),
    createPost: (post, idempotencyKey) => unionToResult(api.createPost(post, { idempotencyKey }, options)),
    getPost: (id) => unionToResult(api.getPost(id, options)),
    listPosts: (page) => unionToResult(api.listPosts(page, options)),
    likePost: (id) => unionToResult(api.likePost(id, options)),
    downloadImage: (filename) => download(`/posts/image/${filename}`),
    sendFriendRequest: (to) => unionToResult(api.sendFriendRequest(to, options)),
    acceptFriendRequest: (from) => unionToResult(api.acceptFriendRequest(from, options)),
  };
};

await runScenario(connect);
