import { type Answer, type Connect, play, type Refusal } from '../scenario.js';
import { createClient } from './client/client/index.js';
import * as api from './client/index.js';

async function answer<Body>(
  asked: Promise<{ data?: Body | undefined; error?: Refusal | undefined; response?: Response | undefined }>,
): Promise<Answer<Body>> {
  const { data, error, response } = await asked;
  const status = response?.status ?? 0;
  if (data !== undefined) return { status, body: data };
  if (error !== undefined) return { status, error };
  throw new Error(`${status} with nothing`);
}

const connect: Connect = (baseUrl, token) => {
  const client = createClient({ baseUrl, auth: token });
  return {
    register: (body) => answer(api.register({ client, body })),
    login: (body) => answer(api.login({ client, body })),
    getCurrentAccount: () => answer(api.getCurrentAccount({ client })),
    changePicture: (image) => answer(api.updateProfile({ client, body: { image } })),
    goPrivate: () => answer(api.updateProfile({ client, body: { private: true } })),
    getProfile: (id) => answer(api.getProfile({ client, path: { id } })),
    downloadPicture: (filename) => answer(api.getProfileImage({ client, path: { filename } })),
    deleteAccount: (password) => answer(api.deleteAccount({ client, body: { password } })),
    createPost: (body, key) => answer(api.createPost({ client, body, headers: { 'Idempotency-Key': key } })),
    getPost: (id) => answer(api.getPost({ client, path: { id } })),
    listPosts: (query) => answer(api.listPosts({ client, query })),
    likePost: (id) => answer(api.likePost({ client, query: { id } })),
    downloadImage: (filename) => answer(api.getPostImage({ client, path: { filename } })),
    sendFriendRequest: (to) => answer(api.sendFriendRequest({ client, query: { to } })),
    acceptFriendRequest: (from) => answer(api.acceptFriendRequest({ client, query: { from } })),
  };
};

await play(connect);
