import type { OperationId } from '../../generated/types.js';
import { pickUser } from './accounts.js';
import { MAX_COMMIT_DELAY_MS } from './fixture.js';
import type { User, UserRelation } from './model.js';
import { type ModelOperation, NO_STATUS } from './step.js';

/** A relation as one of its users sees it: the request was sent to or received from the other. */
type View = 'none' | 'sent' | 'received' | 'friends';

function relationOf(view: View, me: User, other: User): UserRelation {
  if (view === 'sent') return `requested by ${me.label}`;
  if (view === 'received') return `requested by ${other.label}`;
  return view;
}

/** Returns an operation that lists the users to whom the current user has this relation. */
const listUsers =
  (path: string, view: View): ModelOperation =>
  async (step) => {
    const { me, model } = step;
    const { response, since, checker } = await step.send('GET', path, { needs: ['graph'] });
    if (!response) return;
    const users = checker.checkUsers(response.body, (user) => {
      if (user === me) return { possible: false, certain: false };
      const relations = model.relation(me, user).spansSince(since);
      const matches = relations.map(({ value }) => value === relationOf(view, me, user));
      return { possible: matches.includes(true), certain: !matches.includes(false) };
    });
    for (const [index, user] of users.entries()) checker.checkProfile(response.body[index], user);
  };

/**
 * Returns an operation that changes the relation of two users, unless the relation is uncertain or being changed.
 *
 * @param otherStatus the status if the relation is not `from`
 */
const transition =
  (from: View, to: View, otherStatus: number, method: string, path: (other: User) => string): ModelOperation =>
  async (step) => {
    const { me, model } = step;
    const other = pickUser(step);
    if (!other || other === me || me.id === undefined) return;
    const relation = model.relation(me, other);
    const { known } = relation;
    if (known === undefined || !relation.isWritable || Date.now() < relation.uncertainUntil) return;
    const fits = known === relationOf(from, me, other);
    await step.write(
      [relation.changeTo(fits ? relationOf(to, me, other) : known)],
      async () => {
        const reply = await step.send(method, path(other), { needs: ['graph'] });
        const exists = other.profile.spansSince(reply.since).map(({ value }) => value !== null);
        const status = fits ? 200 : otherStatus;
        step.expect(reply, ...(exists.includes(true) ? [status] : []), ...(exists.includes(false) ? [404] : []));
        return reply;
      },
      fits ? { done: 200, refused: [404] } : { done: NO_STATUS, refused: [404, otherStatus] },
      MAX_COMMIT_DELAY_MS,
    );
  };

export const friends = {
  listFriends: listUsers('/friends', 'friends'),
  listFriendRequests: listUsers('/friends/requests', 'received'),
  sendFriendRequest: transition('none', 'sent', 409, 'POST', ({ id }) => `/friends/request?to=${id}`),
  acceptFriendRequest: transition('received', 'friends', 404, 'POST', ({ id }) => `/friends/accept?from=${id}`),
  declineFriendRequest: transition('received', 'none', 404, 'POST', ({ id }) => `/friends/decline?from=${id}`),
  cancelFriendRequest: transition('sent', 'none', 404, 'POST', ({ id }) => `/friends/cancel?to=${id}`),
  removeFriend: transition('friends', 'none', 404, 'DELETE', ({ id }) => `/friends/remove?id=${id}`),
} satisfies Partial<Record<OperationId, ModelOperation>>;
