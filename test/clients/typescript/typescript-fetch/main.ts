import { type Answer, type Connect, type Post, play } from '../scenario.js';
import {
  ApiErrorFromJSON,
  AuthApi,
  Configuration,
  FriendsApi,
  type Post as GeneratedPost,
  PostsApi,
  type Profile,
  ProfilesApi,
  ResponseError,
} from './client/index.js';

/** A generated function `…Raw` answers the status too, and throws whatever is no success. */
async function answer<Body>(asked: Promise<{ raw: Response; value(): Promise<Body> }>): Promise<Answer<Body>> {
  try {
    const response = await asked;
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

async function map<Body, To>(asked: Promise<Answer<Body>>, convert: (body: Body) => To): Promise<Answer<To>> {
  const given = await asked;
  return 'body' in given ? { status: given.status, body: convert(given.body) } : given;
}

// By default the generator writes names in its language's way, and an underscore before its reserved words.
const namedPost = <Generated extends GeneratedPost>({ likeCount, likedByMe, ...post }: Generated) => ({
  ...post,
  like_count: likeCount,
  liked_by_me: likedByMe,
});

const namedProfile = <Generated extends Profile>({ profileLink, _private, ...profile }: Generated) => ({
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
    register: (registration) => answer(auth.registerRaw({ registration })),
    login: (credentials) => answer(auth.loginRaw({ credentials })),
    getCurrentAccount: () => answer(auth.getCurrentAccountRaw()),
    changePicture: (image) => map(answer(profiles.updateProfileRaw({ image })), namedProfile),
    goPrivate: () => map(answer(profiles.updateProfileRaw({ _private: true })), namedProfile),
    getProfile: (id) => map(answer(profiles.getProfileRaw({ id })), namedProfile),
    downloadPicture: (filename) => answer(profiles.getProfileImageRaw({ filename })),
    deleteAccount: (password) => answer(profiles.deleteAccountRaw({ passwordConfirmation: { password } })),
    createPost: (post, idempotencyKey) => map(answer(posts.createPostRaw({ ...post, idempotencyKey })), namedPost),
    getPost: (id) => map(answer(posts.getPostRaw({ id })), namedPost),
    listPosts: (page) => map(answer(posts.listPostsRaw(page)), (list): Post[] => list.map(namedPost)),
    likePost: (id) => answer(posts.likePostRaw({ id })),
    downloadImage: (filename) => answer(posts.getPostImageRaw({ filename })),
    sendFriendRequest: (to) => answer(friends.sendFriendRequestRaw({ to })),
    acceptFriendRequest: (from) => answer(friends.acceptFriendRequestRaw({ from })),
  };
};

await play(connect);
