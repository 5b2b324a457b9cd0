// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { operations } from './types.js';

export type { Upload } from './types.js';

export type OperationId = keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];

type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : Content extends { 'multipart/form-data': infer Form }
      ? Form
      : never
  : undefined;

/** The client that sent a request. */
export interface Client {
  /** Its IP address, as trusted proxies report it. */
  readonly address: string;
  /** Writes log lines with the request's id. */
  readonly log: { info(details: object, message: string): void };
  /** Whether it reached the service over https, as far as trusted proxies report it. */
  readonly https: boolean;
  /** Aborts when the client closes its connection before it has the response. */
  readonly signal: AbortSignal;
}

/** What a handler gets: parsed, authenticated and valid by the contract. */
export interface Request<Id extends OperationId, Caller> {
  path: Parameters<Id>['path'] extends infer Path extends object ? Path : Record<never, never>;
  /** Defaults are filled in. */
  query: Required<NonNullable<Parameters<Id>['query']>>;
  /** Those that the contract declares, by its spelling of their names. */
  headerParameters: Readonly<NonNullable<Parameters<Id>['header']>>;
  body: BodyOf<operations[Id]>;
  /** Known wherever the operation needs credentials. */
  caller: Id extends OpenOperationId ? undefined : Caller;
  /** As they were sent, names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  client: Client;
}

type Responses<Id extends OperationId> = operations[Id]['responses'];

type AnswerBody<Answer> = Answer extends { content: infer Content }
  ? Content extends { 'application/json': infer Json }
    ? Json
    : NodeJS.ReadableStream
  : undefined;

/** What a handler may answer: a status that the operation declares, with that status's body. */
export type Response<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    status: Status;
    headers?: Readonly<Record<string, string>>;
  } & (AnswerBody<Responses<Id>[Status]> extends undefined
    ? { body?: undefined }
    : { body: AnswerBody<Responses<Id>[Status]> });
}[keyof Responses<Id>];

export type Handler<Id extends OperationId, App, Caller> = (
  request: Request<Id, Caller>,
  app: App,
) => Promise<Response<Id>>;

/** The operations that need no credentials. */
export type OpenOperationId = 'register' | 'login';

/** App is what all handlers may use, Caller whose request it is. */
export interface Handlers<App, Caller> {
  /** `POST /auth/register`: Make an account */
  register: Handler<'register', App, Caller>;
  /** `POST /auth/login`: Start a session */
  login: Handler<'login', App, Caller>;
  /** `GET /auth/me`: Show the caller's account */
  getCurrentAccount: Handler<'getCurrentAccount', App, Caller>;
  /** `GET /auth/verify`: Check that the session is alive */
  verifySession: Handler<'verifySession', App, Caller>;
  /** `POST /auth/logout`: End the current session */
  logout: Handler<'logout', App, Caller>;
  /** `GET /auth/sessions`: List the caller's sessions */
  listSessions: Handler<'listSessions', App, Caller>;
  /** `DELETE /auth/sessions`: End all other sessions */
  deleteOtherSessions: Handler<'deleteOtherSessions', App, Caller>;
  /** `DELETE /auth/sessions/{id}`: End one session */
  deleteSession: Handler<'deleteSession', App, Caller>;
  /** `GET /profiles/me`: Show the caller's profile */
  getOwnProfile: Handler<'getOwnProfile', App, Caller>;
  /** `PUT /profiles/me`: Change the caller's profile */
  updateProfile: Handler<'updateProfile', App, Caller>;
  /** `DELETE /profiles/me`: Delete the caller's account */
  deleteAccount: Handler<'deleteAccount', App, Caller>;
  /** `GET /profiles/{id}`: Show somebody's profile */
  getProfile: Handler<'getProfile', App, Caller>;
  /** `GET /profiles/image/{filename}`: Download a profile picture */
  getProfileImage: Handler<'getProfileImage', App, Caller>;
  /** `GET /posts`: Read the feed */
  listPosts: Handler<'listPosts', App, Caller>;
  /** `GET /posts/me`: List the caller's posts */
  listOwnPosts: Handler<'listOwnPosts', App, Caller>;
  /** `GET /posts/{id}`: Read one post */
  getPost: Handler<'getPost', App, Caller>;
  /** `GET /posts/image/{filename}`: Download a post's image */
  getPostImage: Handler<'getPostImage', App, Caller>;
  /** `POST /posts/create`: Write a post */
  createPost: Handler<'createPost', App, Caller>;
  /** `PUT /posts/edit`: Change one of the caller's posts */
  editPost: Handler<'editPost', App, Caller>;
  /** `DELETE /posts/delete`: Delete one of the caller's posts */
  deletePost: Handler<'deletePost', App, Caller>;
  /** `POST /posts/like`: Like a post */
  likePost: Handler<'likePost', App, Caller>;
  /** `DELETE /posts/like`: Take back a like */
  unlikePost: Handler<'unlikePost', App, Caller>;
  /** `GET /friends`: List the caller's friends */
  listFriends: Handler<'listFriends', App, Caller>;
  /** `GET /friends/requests`: List incoming friend requests */
  listFriendRequests: Handler<'listFriendRequests', App, Caller>;
  /** `POST /friends/request`: Ask for somebody's friendship */
  sendFriendRequest: Handler<'sendFriendRequest', App, Caller>;
  /** `POST /friends/accept`: Accept a friend request */
  acceptFriendRequest: Handler<'acceptFriendRequest', App, Caller>;
  /** `POST /friends/decline`: Decline a friend request */
  declineFriendRequest: Handler<'declineFriendRequest', App, Caller>;
  /** `POST /friends/cancel`: Cancel a friend request of one's own */
  cancelFriendRequest: Handler<'cancelFriendRequest', App, Caller>;
  /** `DELETE /friends/remove`: End a friendship */
  removeFriend: Handler<'removeFriend', App, Caller>;
  /** `POST /create_relationship`: Ask for somebody's friendship, naming both */
  createRelationship: Handler<'createRelationship', App, Caller>;
}
