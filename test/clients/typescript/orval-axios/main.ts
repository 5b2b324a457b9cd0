import { type AxiosResponse, create, isAxiosError } from 'axios';
import { type Connect, type Result, runScenario } from '../scenario.js';
import type { ApiError } from './client/client.js';
import { getSocialPostingService } from './client/client.js';

async function toResult<Body>(pending: Promise<AxiosResponse<Body>>): Promise<Result<Body>> {
  try {
    const { status, data } = await pending;
    return { status, body: data };
  } catch (error) {
    if (!isAxiosError<ApiError | Blob>(error) || error.response === undefined) throw error;
    const { status, data } = error.response;
    // The error of a download is a Blob too.
    return { status, error: data instanceof Blob ? JSON.parse(await data.text()) : data };
  }
}

// The default adapter for Node.js does not support Blob.
const inNode = { adapter: 'fetch' };

const connect: Connect = (baseURL, token) => {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const api = getSocialPostingService(create({ baseURL, headers }));
  return {
    register: (registration) => toResult(api.register(registration)),
    login: (credentials) => toResult(api.login(credentials)),
    getCurrentAccount: () => toResult(api.getCurrentAccount()),
    changePicture: (image) => toResult(api.updateProfile({ image })),
    goPrivate: () => toResult(api.updateProfile({ private: true })),
    getProfile: (id) => toResult(api.getProfile(id)),
    downloadPicture: (filename) => toResult(api.getProfileImage(filename, inNode)),
    deleteAccount: (password) => toResult(api.deleteAccount({ password })),
    createPost: (post, key) => toResult(api.createPost(post, { headers: { 'Idempotency-Key': key } })),
    getPost: (id) => toResult(api.getPost(id)),
    listPosts: (page) => toResult(api.listPosts(page)),
    likePost: (id) => toResult(api.likePost({ id })),
    downloadImage: (filename) => toResult(api.getPostImage(filename, inNode)),
    sendFriendRequest: (to) => toResult(api.sendFriendRequest({ to })),
    acceptFriendRequest: (from) => toResult(api.acceptFriendRequest({ from })),
  };
};

await runScenario(connect);
