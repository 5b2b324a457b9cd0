import { type Connect, type ErrorBody, type Result, runScenario, unionToResult } from '../scenario.js';
import * as api from './client/client.js';

const connect: Connect = (baseUrl, token) => {
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const options = { baseUrl, headers };
  /** The generated functions decode the bytes of an image as text. */
  const downloadImage = async (filename: string): Promise<Result<Blob>> => {
    const response = await fetch(`${baseUrl}/posts/image/${filename}`, options);
    const { status } = response;
    return response.ok
      ? { status, body: await response.blob() }
      : { status, error: (await response.json()) as ErrorBody };
  };
  return {
    register: (registration) => unionToResult(api.register(registration, options)),
    login: (credentials) => unionToResult(api.login(credentials, options)),
    getCurrentAccount: () => unionToResult(api.getCurrentAccount(options)),
    goPrivate: (image) => unionToResult(api.updateProfile({ private: true, image }, options)),
    getProfile: (id) => unionToResult(api.getProfile(id, options)),
    deleteAccount: (password) => unionToResult(api.deleteAccount({ password }, options)),
    createPost: (post, idempotencyKey) => unionToResult(api.createPost(post, { idempotencyKey }, options)),
    getPost: (id) => unionToResult(api.getPost(id, options)),
    listPosts: (page) => unionToResult(api.listPosts(page, options)),
    downloadImage,
    sendFriendRequest: (to) => unionToResult(api.sendFriendRequest(to, options)),
    acceptFriendRequest: (from) => unionToResult(api.acceptFriendRequest(from, options)),
  };
};

await runScenario(connect);
