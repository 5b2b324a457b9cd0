// Generated from openapi.yaml by `npm run generate`. Do not edit.

import type { OperationId } from './types.js';

export type Kind = 'string' | 'integer' | 'boolean' | 'file';

export interface Operation {
  id: OperationId;
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** As in the contract: `/posts/{id}`. */
  path: string;
  /** Whether it needs credentials. */
  secured: boolean;
  /** The rate limit that its requests count against. */
  rateLimit: 'strict' | 'general';
  query: Readonly<Record<string, Kind>>;
  /** The header parameters, with names spelled as in the contract. */
  headers?: Readonly<Record<string, Kind>>;
  body?: {
    mediaType: 'application/json' | 'multipart/form-data';
    fields: Readonly<Record<string, Kind>>;
    /** The fields that are trimmed and lower-cased before validation. */
    emails: readonly string[];
  };
  /** Whether the operation rejects even the body `{}`. */
  refusesEmptyObject: boolean;
}

export const operations: Readonly<Record<OperationId, Operation>> = {
  register: {"id":"register","method":"POST","path":"/auth/register","secured":false,"rateLimit":"strict","query":{},"body":{"mediaType":"application/json","fields":{"name":"string","username":"string","email":"string","password":"string"},"emails":["email"]},"refusesEmptyObject":false},
  login: {"id":"login","method":"POST","path":"/auth/login","secured":false,"rateLimit":"strict","query":{},"body":{"mediaType":"application/json","fields":{"email":"string","password":"string"},"emails":["email"]},"refusesEmptyObject":false},
  getCurrentAccount: {"id":"getCurrentAccount","method":"GET","path":"/auth/me","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  verifySession: {"id":"verifySession","method":"GET","path":"/auth/verify","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  logout: {"id":"logout","method":"POST","path":"/auth/logout","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  listSessions: {"id":"listSessions","method":"GET","path":"/auth/sessions","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  deleteOtherSessions: {"id":"deleteOtherSessions","method":"DELETE","path":"/auth/sessions","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  deleteSession: {"id":"deleteSession","method":"DELETE","path":"/auth/sessions/{id}","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  getOwnProfile: {"id":"getOwnProfile","method":"GET","path":"/profiles/me","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  updateProfile: {"id":"updateProfile","method":"PUT","path":"/profiles/me","secured":true,"rateLimit":"general","query":{},"body":{"mediaType":"multipart/form-data","fields":{"name":"string","username":"string","email":"string","password":"string","current_password":"string","private":"boolean","image":"file","remove_image":"boolean"},"emails":["email"]},"refusesEmptyObject":false},
  deleteAccount: {"id":"deleteAccount","method":"DELETE","path":"/profiles/me","secured":true,"rateLimit":"strict","query":{},"body":{"mediaType":"application/json","fields":{"password":"string"},"emails":[]},"refusesEmptyObject":false},
  getProfile: {"id":"getProfile","method":"GET","path":"/profiles/{id}","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  getProfileImage: {"id":"getProfileImage","method":"GET","path":"/profiles/image/{filename}","secured":true,"rateLimit":"general","query":{},"headers":{"If-None-Match":"string"},"refusesEmptyObject":false},
  listPosts: {"id":"listPosts","method":"GET","path":"/posts","secured":true,"rateLimit":"general","query":{"limit":"integer","offset":"integer"},"refusesEmptyObject":false},
  listOwnPosts: {"id":"listOwnPosts","method":"GET","path":"/posts/me","secured":true,"rateLimit":"general","query":{"limit":"integer","offset":"integer"},"refusesEmptyObject":false},
  getPost: {"id":"getPost","method":"GET","path":"/posts/{id}","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":false},
  getPostImage: {"id":"getPostImage","method":"GET","path":"/posts/image/{filename}","secured":true,"rateLimit":"general","query":{},"headers":{"If-None-Match":"string"},"refusesEmptyObject":false},
  createPost: {"id":"createPost","method":"POST","path":"/posts/create","secured":true,"rateLimit":"general","query":{},"headers":{"Idempotency-Key":"string"},"body":{"mediaType":"multipart/form-data","fields":{"title":"string","text":"string","image":"file"},"emails":[]},"refusesEmptyObject":false},
  editPost: {"id":"editPost","method":"PUT","path":"/posts/edit","secured":true,"rateLimit":"general","query":{"id":"integer"},"body":{"mediaType":"multipart/form-data","fields":{"title":"string","text":"string","image":"file","remove_image":"boolean"},"emails":[]},"refusesEmptyObject":false},
  deletePost: {"id":"deletePost","method":"DELETE","path":"/posts/delete","secured":true,"rateLimit":"general","query":{"id":"integer"},"refusesEmptyObject":false},
  likePost: {"id":"likePost","method":"POST","path":"/posts/like","secured":true,"rateLimit":"general","query":{"id":"integer"},"refusesEmptyObject":false},
  unlikePost: {"id":"unlikePost","method":"DELETE","path":"/posts/like","secured":true,"rateLimit":"general","query":{"id":"integer"},"refusesEmptyObject":false},
  listFriends: {"id":"listFriends","method":"GET","path":"/friends","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":true},
  listFriendRequests: {"id":"listFriendRequests","method":"GET","path":"/friends/requests","secured":true,"rateLimit":"general","query":{},"refusesEmptyObject":true},
  sendFriendRequest: {"id":"sendFriendRequest","method":"POST","path":"/friends/request","secured":true,"rateLimit":"general","query":{"to":"integer"},"refusesEmptyObject":true},
  acceptFriendRequest: {"id":"acceptFriendRequest","method":"POST","path":"/friends/accept","secured":true,"rateLimit":"general","query":{"from":"integer"},"refusesEmptyObject":true},
  declineFriendRequest: {"id":"declineFriendRequest","method":"POST","path":"/friends/decline","secured":true,"rateLimit":"general","query":{"from":"integer"},"refusesEmptyObject":true},
  cancelFriendRequest: {"id":"cancelFriendRequest","method":"POST","path":"/friends/cancel","secured":true,"rateLimit":"general","query":{"to":"integer"},"refusesEmptyObject":true},
  removeFriend: {"id":"removeFriend","method":"DELETE","path":"/friends/remove","secured":true,"rateLimit":"general","query":{"id":"integer"},"refusesEmptyObject":true},
  createRelationship: {"id":"createRelationship","method":"POST","path":"/create_relationship","secured":true,"rateLimit":"general","query":{"me":"integer","them":"integer"},"refusesEmptyObject":false},
};
