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

/** What a handler gets: parsed, authenticated and valid by the contract. */
export interface Request<Id extends OperationId, Caller> {
  path: Parameters<Id>['path'] extends infer Path extends object ? Path : Record<never, never>;
  /** Defaults are filled in. */
  query: Required<NonNullable<Parameters<Id>['query']>>;
  body: BodyOf<operations[Id]>;
  /** Known wherever the operation needs credentials. */
  caller: Id extends OpenOperationId ? undefined : Caller;
  /** As they were sent, names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
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
  /** `POST /auth/register`: register */
  register: Handler<'register', App, Caller>;
  /** `POST /auth/login`: login */
  login: Handler<'login', App, Caller>;
  /** `GET /auth/me`: getCurrentAccount */
  getCurrentAccount: Handler<'getCurrentAccount', App, Caller>;
  /** `GET /auth/verify`: verifySession */
  verifySession: Handler<'verifySession', App, Caller>;
  /** `POST /auth/logout`: logout */
  logout: Handler<'logout', App, Caller>;
  /** `GET /auth/sessions`: listSessions */
  listSessions: Handler<'listSessions', App, Caller>;
  /** `DELETE /auth/sessions`: deleteOtherSessions */
  deleteOtherSessions: Handler<'deleteOtherSessions', App, Caller>;
  /** `DELETE /auth/sessions/{id}`: deleteSession */
  deleteSession: Handler<'deleteSession', App, Caller>;
  /** `GET /profiles/me`: getOwnProfile */
  getOwnProfile: Handler<'getOwnProfile', App, Caller>;
  /** `PUT /profiles/me`: updateProfile */
  updateProfile: Handler<'updateProfile', App, Caller>;
  /** `DELETE /profiles/me`: deleteAccount */
  deleteAccount: Handler<'deleteAccount', App, Caller>;
  /** `GET /profiles/{id}`: getProfile */
  getProfile: Handler<'getProfile', App, Caller>;
  /** `GET /profiles/image/{filename}`: getProfileImage */
  getProfileImage: Handler<'getProfileImage', App, Caller>;
  /** `GET /posts`: listPosts */
  listPosts: Handler<'listPosts', App, Caller>;
  /** `GET /posts/me`: listOwnPosts */
  listOwnPosts: Handler<'listOwnPosts', App, Caller>;
  /** `GET /posts/{id}`: getPost */
  getPost: Handler<'getPost', App, Caller>;
  /** `GET /posts/image/{filename}`: getPostImage */
  getPostImage: Handler<'getPostImage', App, Caller>;
  /** `POST /posts/create`: createPost */
  createPost: Handler<'createPost', App, Caller>;
  /** `PUT /posts/edit`: editPost */
  editPost: Handler<'editPost', App, Caller>;
  /** `DELETE /posts/delete`: deletePost */
  deletePost: Handler<'deletePost', App, Caller>;
  /** `POST /posts/like`: likePost */
  likePost: Handler<'likePost', App, Caller>;
  /** `DELETE /posts/like`: unlikePost */
  unlikePost: Handler<'unlikePost', App, Caller>;
  /** `GET /friends`: listFriends */
  listFriends: Handler<'listFriends', App, Caller>;
  /** `GET /friends/requests`: listFriendRequests */
  listFriendRequests: Handler<'listFriendRequests', App, Caller>;
  /** `POST /friends/request`: sendFriendRequest */
  sendFriendRequest: Handler<'sendFriendRequest', App, Caller>;
  /** `POST /friends/accept`: acceptFriendRequest */
  acceptFriendRequest: Handler<'acceptFriendRequest', App, Caller>;
  /** `POST /friends/decline`: declineFriendRequest */
  declineFriendRequest: Handler<'declineFriendRequest', App, Caller>;
  /** `POST /friends/cancel`: cancelFriendRequest */
  cancelFriendRequest: Handler<'cancelFriendRequest', App, Caller>;
  /** `DELETE /friends/remove`: removeFriend */
  removeFriend: Handler<'removeFriend', App, Caller>;
  /** `POST /create_relationship`: createRelationship */
  createRelationship: Handler<'createRelationship', App, Caller>;
}
