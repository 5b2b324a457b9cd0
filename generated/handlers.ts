// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { OperationId } from './types.js';

export interface AuthHandlers<All extends Record<OperationId, unknown>> {
  /** `POST /auth/register`: Make an account */
  register: All['register'];
  /** `POST /auth/login`: Start a session */
  login: All['login'];
  /** `GET /auth/me`: Show the caller's account */
  getCurrentAccount: All['getCurrentAccount'];
  /** `GET /auth/verify`: Check that the session is alive */
  verifySession: All['verifySession'];
  /** `POST /auth/logout`: End the current session */
  logout: All['logout'];
  /** `GET /auth/sessions`: List the caller's sessions */
  listSessions: All['listSessions'];
  /** `DELETE /auth/sessions`: End all other sessions */
  deleteOtherSessions: All['deleteOtherSessions'];
  /** `DELETE /auth/sessions/{id}`: End one session */
  deleteSession: All['deleteSession'];
}

export interface ProfilesHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /profiles/me`: Show the caller's profile */
  getOwnProfile: All['getOwnProfile'];
  /** `PUT /profiles/me`: Change the caller's profile */
  updateProfile: All['updateProfile'];
  /** `DELETE /profiles/me`: Delete the caller's account */
  deleteAccount: All['deleteAccount'];
  /** `GET /profiles/{id}`: Show somebody's profile */
  getProfile: All['getProfile'];
  /** `GET /profiles/image/{filename}`: Download a profile picture */
  getProfileImage: All['getProfileImage'];
}

export interface PostsHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /posts`: Read the feed */
  listPosts: All['listPosts'];
  /** `GET /posts/me`: List the caller's posts */
  listOwnPosts: All['listOwnPosts'];
  /** `GET /posts/{id}`: Read one post */
  getPost: All['getPost'];
  /** `GET /posts/image/{filename}`: Download a post's image */
  getPostImage: All['getPostImage'];
  /** `POST /posts/create`: Write a post */
  createPost: All['createPost'];
  /** `PUT /posts/edit`: Change one of the caller's posts */
  editPost: All['editPost'];
  /** `DELETE /posts/delete`: Delete one of the caller's posts */
  deletePost: All['deletePost'];
  /** `POST /posts/like`: Like a post */
  likePost: All['likePost'];
  /** `DELETE /posts/like`: Take back a like */
  unlikePost: All['unlikePost'];
}

export interface FriendsHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /friends`: List the caller's friends */
  listFriends: All['listFriends'];
  /** `GET /friends/requests`: List incoming friend requests */
  listFriendRequests: All['listFriendRequests'];
  /** `POST /friends/request`: Ask for somebody's friendship */
  sendFriendRequest: All['sendFriendRequest'];
  /** `POST /friends/accept`: Accept a friend request */
  acceptFriendRequest: All['acceptFriendRequest'];
  /** `POST /friends/decline`: Decline a friend request */
  declineFriendRequest: All['declineFriendRequest'];
  /** `POST /friends/cancel`: Cancel a friend request of one's own */
  cancelFriendRequest: All['cancelFriendRequest'];
  /** `DELETE /friends/remove`: End a friendship */
  removeFriend: All['removeFriend'];
}

export interface RelationshipsHandlers<All extends Record<OperationId, unknown>> {
  /** `POST /create_relationship`: Ask for somebody's friendship, naming both */
  createRelationship: All['createRelationship'];
}
