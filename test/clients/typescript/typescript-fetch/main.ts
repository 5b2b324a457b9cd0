import { type Connect, type Result, runScenario } from '../scenario.js';
import {
  ApiErrorFromJSON,
  AuthApi,
  Configuration,
  FriendsApi,
  PostsApi,
  type Profile,
  ProfilesApi,
  ResponseError,
} from './client/index.js';

/** Converts the response of a generated function `…Raw`, or the error that it throws for an error status, to a result. */
async function toResult<Body>(pending: Promise<{ raw: Response; value(): Promise<Body> }>): Promise<Result<Body>> {
  try {
    const response = await pending;
    return { status: response.raw.status, body: await response.value() };
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    const { code, message, errors } = ApiErrorFromJSON(await error.response.json());
    return {
      status: error.response.status,
      error: { code, message, errors: errors?.map((problem) => ({ ...problem, in: problem._in })) },
    };
  }
}

async function map<Body, To>(pending: Promise<Result<Body>>, convert: (body: Body) => To): Promise<Result<To>> {
  const result = await pending;
  return 'body' in result ? { status: result.status, body: convert(result.body) } : result;
}

// The generator converts names to camel case, and puts an underscore before reserved words.
const toProfile = <Generated extends Profile>({ profileLink, _private, ...profile }: Generated) => ({
  ...profile,
  profile_link: profileLink as Generated['profileLink'],
  private: _private as Generated['_private'],
});

const connect: Connect = (basePath, token) => {
  const configuration = new Configuration({ basePath, ...(token !== undefined && { accessToken: token }) });
  const auth = new AuthApi(configuration);
  const profiles = new ProfilesApi(configuration);
  const posts = new PostsApi(configuration);
  const friends = new FriendsApi(configuration);
  return {
    register: (registration) => toResult(auth.registerRaw({ registration })),
    login: (credentials) => toResult(auth.loginRaw({ credentials })),
    getCurrentAccount: () => toResult(auth.getCurrentAccountRaw()),
    goPrivate: (image) => map(toResult(profiles.updateProfileRaw({ _private: true, image })), toProfile),
    getProfile: (id) => map(toResult(profiles.getProfileRaw({ id })), toProfile),
    deleteAccount: (password) => toResult(profiles.deleteAccountRaw({ passwordConfirmation: { password } })),
    createPost: (post, idempotencyKey) => toResult(posts.createPostRaw({ ...post, idempotencyKey })),
    getPost: (id) => toResult(posts.getPostRaw({ id })),
    listPosts: (page) => toResult(posts.listPostsRaw(page)),
    downloadImage: (filename) => toResult(posts.getPostImageRaw({ filename })),
    sendFriendRequest: (to) => toResult(friends.sendFriendRequestRaw({ to })),
    acceptFriendRequest: (from) => toResult(friends.acceptFriendRequestRaw({ from })),
  };
};

await runScenario(connect);
