import { type Answer, type Connect, play, type Refusal } from '../scenario.js';
import * as api from './client/client.js';

type Success = { status: 200 | 201 };

const succeeded = <Reply extends { status: number }>(reply: Reply): reply is Extract<Reply, Success> =>
  reply.status < 300;

async function answer<Reply extends { status: number; data: unknown }>(
  asked: Promise<Reply>,
): Promise<Answer<Extract<Reply, Success>['data']>> {
  const reply = await asked;
  if (succeeded(reply)) return { status: reply.status, body: reply.data };
  return { status: reply.status, error: reply.data as Refusal };
}

const connect: Connect = (baseUrl, token) => {
  const options = { baseUrl, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
  return {
    register: (registration) => answer(api.register(registration, options)),
    login: (credentials) => answer(api.login(credentials, options)),
    getCurrentAccount: () => answer(api.getCurrentAccount(options)),
    changePicture: (image) => answer(api.updateProfile({ image }, options)),
    goPrivate: () => answer(api.updateProfile({ private: true }, options)),
    getProfile: (id) => answer(api.getProfile(id, options)),
    downloadPicture: (filename) => answer(api.getProfileImage(filename, options)),
    deleteAccount: (password) => answer(api.deleteAccount({ password }, options)),
    createPost: (post, key) =>
      answer(api.createPost(post, { ...options, headers: { ...options.headers, 'Idempotency-Key': key } })),
    getPost: (id) => answer(api.getPost(id, options)),
    listPosts: (page) => answer(api.listPosts(page, options)),
    likePost: (id) => answer(api.likePost({ id }, options)),
    downloadImage: (filename) => answer(api.getPostImage(filename, options)),
    sendFriendRequest: (to) => answer(api.sendFriendRequest({ to }, options)),
    acceptFriendRequest: (from) => answer(api.acceptFriendRequest({ from }, options)),
  };
};

await play(connect);
