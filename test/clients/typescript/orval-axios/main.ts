import { type AxiosResponse, create, isAxiosError } from 'axios';
import { type Answer, type Connect, play } from '../scenario.js';
import type { ApiError } from './client/client.js';
import { getSocialPostingService } from './client/client.js';

async function answer<Body>(asked: Promise<AxiosResponse<Body>>): Promise<Answer<Body>> {
  try {
    const { status, data } = await asked;
    return { status, body: data };
  } catch (error) {
    if (!isAxiosError<ApiError | Blob>(error) || error.response === undefined) throw error;
    const { status, data } = error.response;
    // Where bytes are asked for, what refuses them comes as bytes too.
    return { status, error: data instanceof Blob ? JSON.parse(await data.text()) : data };
  }
}

// axios's own adapter for Node knows no Blob. Browsers need no such option.
const inNode = { adapter: 'fetch' };

const connect: Connect = (baseURL, token) => {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const api = getSocialPostingService(create({ baseURL, headers }));
  return {
    register: (registration) => answer(api.register(registration)),
    login: (credentials) => answer(api.login(credentials)),
    getCurrentAccount: () => answer(api.getCurrentAccount()),
    changePicture: (image) => answer(api.updateProfile({ image })),
    goPrivate: () => answer(api.updateProfile({ private: true })),
    getProfile: (id) => answer(api.getProfile(id)),
    downloadPicture: (filename) => answer(api.getProfileImage(filename, inNode)),
    deleteAccount: (password) => answer(api.deleteAccount({ password })),
    createPost: (post, key) => answer(api.createPost(post, { headers: { 'Idempotency-Key': key } })),
    getPost: (id) => answer(api.getPost(id)),
    listPosts: (page) => answer(api.listPosts(page)),
    likePost: (id) => answer(api.likePost({ id })),
    downloadImage: (filename) => answer(api.getPostImage(filename, inNode)),
    sendFriendRequest: (to) => answer(api.sendFriendRequest({ to })),
    acceptFriendRequest: (from) => answer(api.acceptFriendRequest({ from })),
  };
};

await play(connect);
