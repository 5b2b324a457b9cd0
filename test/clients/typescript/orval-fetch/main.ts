import { type Connect, type ErrorBody, type Result, runScenario } from '../scenario.js';
import * as api from './client/client.js';

type Success = { status: 200 | 201 };

const isSuccess = <Received extends { status: number }>(received: Received): received is Extract<Received, Success> =>
  received.status < 300;

async function toResult<Received extends { status: number; data: unknown }>(
  pending: Promise<Received>,
): Promise<Result<Extract<Received, Success>['data']>> {
  const received = await pending;
  if (isSuccess(received)) return { status: received.status, body: received.data };
  return { status: received.status, error: received.data as ErrorBody };
}

const connect: Connect = (baseUrl, token) => {
  const options = { baseUrl, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) };
  return {
    register: (registration) => toResult(api.register(registration, options)),
    login: (credentials) => toResult(api.login(credentials, options)),
    getCurrentAccount: () => toResult(api.getCurrentAccount(options)),
    changePicture: (image) => toResult(api.updateProfile({ image }, options)),
    goPrivate: () => toResult(api.updateProfile({ private: true }, options)),
    getProfile: (id) => toResult(api.getProfile(id, options)),
    downloadPicture: (filename) => toResult(api.getProfileImage(filename, options)),
    deleteAccount: (password) => toResult(api.deleteAccount({ password }, options)),
    createPost: (post, key) =>
      toResult(api.createPost(post, { ...options, headers: { ...options.headers, 'Idempotency-Key': key } })),
    getPost: (id) => toResult(api.getPost(id, options)),
    listPosts: (page) => toResult(api.listPosts(page, options)),
    likePost: (id) => toResult(api.likePost({ id }, options)),
    downloadImage: (filename) => toResult(api.getPostImage(filename, options)),
    sendFriendRequest: (to) => toResult(api.sendFriendRequest({ to }, options)),
    acceptFriendRequest: (from) => toResult(api.acceptFriendRequest({ from }, options)),
  };
};

await runScenario(connect);
