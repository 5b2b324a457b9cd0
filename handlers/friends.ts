import type { Account } from '../db/accounts.js';
import { changeFriendship, requestFriendship } from '../db/friendships.js';
import type { FriendsHandlers } from '../generated/handlers.js';
import type { AppContext } from './context.js';
import { invalidToken } from './http/errors.js';
import type { Handlers } from './operation.js';
import { briefProfileView, fullProfileView } from './views.js';

const NO_SUCH_REQUEST = { status: 404, body: { message: 'There is no such friend request.' } } as const;
const ok = (message: string) => ({ status: 200, body: { message } }) as const;

export const friends: FriendsHandlers<Handlers> = {
  async listFriends({ user }, context) {
    const accounts = await findAccounts(context, await context.graph.friendsOf(user.account.id));
    // Rechecks the friendships, because one may have ended before its account was read.
    const friendIds = await context.read.friends({ person: user.account.id, others: accounts.map(({ id }) => id) });
    return { status: 200, body: accounts.filter(({ id }) => friendIds.has(id)).map(fullProfileView) };
  },

  async listFriendRequests({ user }, context) {
    const accounts = await findAccounts(context, await context.graph.requestersOf(user.account.id));
    return {
      status: 200,
      body: accounts.map((account) => (account.private ? briefProfileView : fullProfileView)(account)),
    };
  },

  async sendFriendRequest({ user, query }, context) {
    return sendRequest(context, user.account.id, query.to);
  },

  async acceptFriendRequest({ user, query }, context) {
    const accepted = await changeFriendship(context, 'accept', user.account.id, query.from);
    return accepted ? ok('You are friends now.') : NO_SUCH_REQUEST;
  },

  async declineFriendRequest({ user, query }, context) {
    const declined = await changeFriendship(context, 'decline', user.account.id, query.from);
    return declined ? ok('The friend request is declined.') : NO_SUCH_REQUEST;
  },

  async cancelFriendRequest({ user, query }, context) {
    const cancelled = await changeFriendship(context, 'cancel', user.account.id, query.to);
    return cancelled ? ok('The friend request is cancelled.') : NO_SUCH_REQUEST;
  },

  async removeFriend({ user, query }, context) {
    const removed = await changeFriendship(context, 'unfriend', user.account.id, query.id);
    return removed ? ok('You are no longer friends.') : { status: 404, body: { message: 'You have no such friend.' } };
  },
};

/** Returns the accounts, ordered by id. Omits deleted accounts, which may remain in the graph for a short time. */
async function findAccounts({ read }: AppContext, ids: readonly number[]): Promise<Account[]> {
  const accounts = await Promise.all([...ids].sort((a, b) => a - b).map((id) => read.account(id)));
  return accounts.filter((account) => account !== undefined);
}

/** Sends a friend request and returns the response, for both operations that do so. */
export async function sendRequest(context: AppContext, from: number, to: number) {
  const outcome = await requestFriendship(context, from, to);
  switch (outcome) {
    case 'sent':
      return ok('The friend request is sent.');
    case 'friends':
      return { status: 409, body: { message: 'You are friends already.' } } as const;
    case 'pending':
      return { status: 409, body: { message: 'There is a friend request between you already.' } } as const;
    case 'recipientNotFound':
      return { status: 404, body: { message: 'There is no such user.' } } as const;
    case 'accountDeleted':
      throw invalidToken();
  }
}
