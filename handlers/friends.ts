import type { Account } from '../db/accounts.js';
import { changeFriendship, requestFriendship } from '../db/friendships.js';
import type { App, Handlers } from './context.js';
import { unauthorized } from './http/errors.js';
import { briefProfileView, fullProfileView } from './views.js';

type FriendHandlers = Pick<
  Handlers,
  | 'listFriends'
  | 'listFriendRequests'
  | 'sendFriendRequest'
  | 'acceptFriendRequest'
  | 'declineFriendRequest'
  | 'cancelFriendRequest'
  | 'removeFriend'
>;

const NO_SUCH_REQUEST = { status: 404, body: { message: 'There is no such friend request.' } } as const;
const done = (message: string) => ({ status: 200, body: { message } }) as const;

export const friends: FriendHandlers = {
  async listFriends({ caller }, app) {
    const people = await findPeople(app, await app.graph.friendsOf(caller.account.id));
    // Asked again, now that the rows are read: a friendship may have ended in between.
    const friends = await app.read.friends({ person: caller.account.id, others: people.map(({ id }) => id) });
    return { status: 200, body: people.filter(({ id }) => friends.has(id)).map(fullProfileView) };
  },

  async listFriendRequests({ caller }, app) {
    const people = await findPeople(app, await app.graph.requestersOf(caller.account.id));
    return { status: 200, body: people.map((person) => (person.private ? briefProfileView : fullProfileView)(person)) };
  },

  async sendFriendRequest({ caller, query }, app) {
    return sendRequest(app, caller.account.id, query.to);
  },

  async acceptFriendRequest({ caller, query }, app) {
    const accepted = await changeFriendship(app, 'accept', caller.account.id, query.from);
    return accepted ? done('You are friends now.') : NO_SUCH_REQUEST;
  },

  async declineFriendRequest({ caller, query }, app) {
    const declined = await changeFriendship(app, 'decline', caller.account.id, query.from);
    return declined ? done('The friend request is declined.') : NO_SUCH_REQUEST;
  },

  async cancelFriendRequest({ caller, query }, app) {
    const cancelled = await changeFriendship(app, 'cancel', caller.account.id, query.to);
    return cancelled ? done('The friend request is cancelled.') : NO_SUCH_REQUEST;
  },

  async removeFriend({ caller, query }, app) {
    const removed = await changeFriendship(app, 'unfriend', caller.account.id, query.id);
    return removed
      ? done('You are no longer friends.')
      : { status: 404, body: { message: 'You have no such friend.' } };
  },
};

/** The accounts of these people, by id. Someone whose account is gone may still be in the graph for a moment. */
async function findPeople({ read }: App, ids: readonly number[]): Promise<Account[]> {
  const people = await Promise.all([...ids].sort((a, b) => a - b).map((id) => read.account(id)));
  return people.filter((person) => person !== undefined);
}

/** The one way to ask for somebody's friendship. */
export async function sendRequest(app: App, from: number, to: number) {
  const outcome = await requestFriendship(app, from, to);
  switch (outcome) {
    case 'sent':
      return done('The friend request is sent.');
    case 'friends':
      return { status: 409, body: { message: 'You are friends already.' } } as const;
    case 'pending':
      return { status: 409, body: { message: 'There is a friend request between you already.' } } as const;
    case 'nobody':
      return { status: 404, body: { message: 'There is no such user.' } } as const;
    case 'gone':
      throw unauthorized();
  }
}
