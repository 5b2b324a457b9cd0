import type { RelationshipsHandlers } from '../generated/handlers.js';
import { errorResponse } from './errors.js';
import { handleFriendRequest } from './friends.js';
import type { Handlers } from './operation.js';

export const relationships: RelationshipsHandlers<Handlers> = {
  async createRelationship({ user, query: { me, them } }, context) {
    if (me !== user.account.id) return errorResponse('user_mismatch', 'You can act for yourself only.');
    return handleFriendRequest(context, me, them);
  },
};
