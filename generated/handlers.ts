// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { OperationId } from './types.js';

export interface AuthHandlers<All extends Record<OperationId, unknown>> {
  /** `POST /auth/register`: Register an account */
  register: All['register'];
  /** `POST /auth/login`: Log in */
  login: All['login'];
  /** `GET /auth/me`: Get your own account */
  getCurrentAccount: All['getCurrentAccount'];
  /** `GET /auth/verify`: Verify the session */
  verifySession: All['verifySession'];
  /** `POST /auth/logout`: Log out */
  logout: All['logout'];
  /** `GET /auth/sessions`: List sessions */
  listSessions: All['listSessions'];
  /** `DELETE /auth/sessions`: End all other sessions */
  deleteOtherSessions: All['deleteOtherSessions'];
  /** `DELETE /auth/sessions/{id}`: End a session */
  deleteSession: All['deleteSession'];
}

export interface ProfilesHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /profiles/me`: Get your own profile */
  getOwnProfile: All['getOwnProfile'];
  /** `PUT /profiles/me`: Update your own profile */
  updateProfile: All['updateProfile'];
  /** `DELETE /profiles/me`: Delete your own account */
  deleteAccount: All['deleteAccount'];
  /** `GET /profiles/{id}`: Get a profile */
  getProfile: All['getProfile'];
  /** `GET /profiles/image/{filename}`: Download a profile picture */
  getProfileImage: All['getProfileImage'];
}

export interface PostsHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /posts`: List the feed */
  listPosts: All['listPosts'];
  /** `GET /posts/me`: List your own posts */
  listOwnPosts: All['listOwnPosts'];
  /** `GET /posts/{id}`: Get a post */
  getPost: All['getPost'];
  /** `GET /posts/image/{filename}`: Download a post's image */
  getPostImage: All['getPostImage'];
  /** `POST /posts/create`: Create a post */
  createPost: All['createPost'];
  /** `PUT /posts/edit`: Edit a post */
  editPost: All['editPost'];
  /** `DELETE /posts/delete`: Delete a post */
  deletePost: All['deletePost'];
  /** `POST /posts/like`: Like a post */
  likePost: All['likePost'];
  /** `DELETE /posts/like`: Unlike a post */
  unlikePost: All['unlikePost'];
}

export interface FriendsHandlers<All extends Record<OperationId, unknown>> {
  /** `GET /friends`: List friends */
  listFriends: All['listFriends'];
  /** `GET /friends/requests`: List incoming friend requests */
  listFriendRequests: All['listFriendRequests'];
  /** `POST /friends/request`: Send a friend request */
  sendFriendRequest: All['sendFriendRequest'];
  /** `POST /friends/accept`: Accept a friend request */
  acceptFriendRequest: All['acceptFriendRequest'];
  /** `POST /friends/decline`: Decline a friend request */
  declineFriendRequest: All['declineFriendRequest'];
  /** `POST /friends/cancel`: Cancel a friend request */
  cancelFriendRequest: All['cancelFriendRequest'];
  /** `DELETE /friends/remove`: Remove a friend */
  removeFriend: All['removeFriend'];
}

export interface RelationshipsHandlers<All extends Record<OperationId, unknown>> {
  /** `POST /create_relationship`: Send a friend request with both user ids */
  createRelationship: All['createRelationship'];
}
