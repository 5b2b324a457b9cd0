import { type Connect, type ErrorBody, type Result, runScenario } from '../scenario.js';
import * as api from './client/client.js';

type Success = { status: 200 | 201 };
type Received = { status: number; data?: unknown };

const isSuccess = <Response extends Received>(response: Response): response is Extract<Response, Success> =>
  response.status < 300;

async function toResult<Response extends Received>(
  pending: Promise<Response>,
): Promise<Result<Extract<Response, Success & { data: unknown }>['data']>> {
  const response = await pending;
  if (isSuccess(response)) return { status: response.status, body: response.data };
  return { status: response.status, error: response.data as ErrorBody };
}

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
    register: (registration) => toResult(api.register(registration, options)),
    login: (credentials) => toResult(api.login(credentials, options)),
    getCurrentAccount: () => toResult(api.getCurrentAccount(options)),
    changePicture: (image) => toResult(api.updateProfile({ image }, options)),
    goPrivate: () => toResult(api.updateProfile({ private: true }, options)),
    getProfile: (id) => toResult(api.getProfile(id, options)),
    downloadPicture: (filename) => download(`/profiles/image/${filename}`),
    deleteAccount: (password) => toResult(api.deleteAccount({ password }, options)),
    createPost: (post, idempotencyKey) => toResult(api.createPost(post, { idempotencyKey }, options)),
    getPost: (id) => toResult(api.getPost(id, options)),
    listPosts: (page) => toResult(api.listPosts(page, options)),
    likePost: (id) => toResult(api.likePost(id, options)),
    downloadImage: (filename) => download(`/posts/image/${filename}`),
    sendFriendRequest: (to) => toResult(api.sendFriendRequest(to, options)),
    acceptFriendRequest: (from) => toResult(api.acceptFriendRequest(from, options)),
  };
};

await runScenario(connect);
