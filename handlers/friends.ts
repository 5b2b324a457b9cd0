import type { Account } from '../db/accounts.js';
import { changeFriendship, type FriendshipChange, requestFriendship } from '../db/friendships.js';
import type { FriendsHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { errorResponse, invalidToken } from './errors.js';
import type { Handlers } from './operation.js';
import { fullProfileView, reducedProfileView } from './views.js';

const NO_SUCH_REQUEST = errorResponse('not_found', 'There is no such friend request.');
const ok = (message: string) => ({ status: 200, body: { message } }) as const;

export const friends: FriendsHandlers<Handlers> = {
  async listFriends({ user }, context) {
    const accounts = await readAccounts(context, await context.read.friendsOf(user.account.id));
    // The friendships are read again, because one may have ended before the account of the friend was read.
    const friendIds = await context.read.friends({ user: user.account.id, others: accounts.map(({ id }) => id) });
    return { status: 200, body: accounts.filter(({ id }) => friendIds.has(id)).map(fullProfileView) };
  },

  async listFriendRequests({ user }, context) {
    const accounts = await readAccounts(context, await context.graph.requestersOf(user.account.id));
    return {
      status: 200,
      body: accounts.map((account) => (account.private ? reducedProfileView : fullProfileView)(account)),
    };
  },

  async sendFriendRequest({ user, query }, context) {
    return handleFriendRequest(context, user.account.id, query.to);
  },

  async acceptFriendRequest({ user, query }, context) {
    const accepted = await applyChange(context, 'accept', user.account.id, query.from);
    return accepted ? ok('You are friends now.') : NO_SUCH_REQUEST;
  },

  async declineFriendRequest({ user, query }, context) {
    const declined = await applyChange(context, 'decline', user.account.id, query.from);
    return declined ? ok('The friend request is declined.') : NO_SUCH_REQUEST;
  },

  async cancelFriendRequest({ user, query }, context) {
    const cancelled = await applyChange(context, 'cancel', user.account.id, query.to);
    return cancelled ? ok('The friend request is cancelled.') : NO_SUCH_REQUEST;
  },

  async removeFriend({ user, query }, context) {
    const removed = await applyChange(context, 'unfriend', user.account.id, query.id);
    return removed ? ok('You are no longer friends.') : errorResponse('not_found', 'You have no such friend.');
  },
};

/**
 * Applies a change to a friendship. Returns false if there is no such friendship or friend request.
 *
 * @throws HttpError 401 if the user's account has been deleted
 */
async function applyChange(
  context: AppContext,
  change: FriendshipChange,
  userId: number,
  otherId: number,
): Promise<boolean> {
  const outcome = await changeFriendship(context, change, userId, otherId);
  if (outcome === 'accountDeleted') throw invalidToken();
  return outcome === 'changed';
}

/**
 * Returns the accounts with these ids, ordered by id. Omits deleted accounts, which may remain in the graph for a short
 * time.
 */
async function readAccounts({ read }: AppContext, ids: readonly number[]): Promise<Account[]> {
  const accounts = await Promise.all([...ids].sort((a, b) => a - b).map((id) => read.account(id)));
  return accounts.filter((account) => account !== undefined);
}

/** Sends a friend request and returns the response, for the two operations that do so. */
export async function handleFriendRequest(context: AppContext, from: number, to: number) {
  const outcome = await requestFriendship(context, from, to);
  switch (outcome) {
    case 'sent':
      return ok('The friend request is sent.');
    case 'friends':
      return errorResponse('already_friends', 'You are friends already.');
    case 'alreadySent':
      return errorResponse('request_already_sent', 'You have already sent this user a friend request.');
    case 'alreadyReceived':
      return errorResponse(
        'request_already_received',
        'This user has already sent you a friend request. Accept or decline it.',
      );
    case 'notFound':
      return errorResponse('not_found', 'There is no such user.');
    case 'accountDeleted':
      throw invalidToken();
  }
}
