import type { OperationId } from '../../generated/types.js';
import { pickUser } from './accounts.js';
import type { Relation, User } from './model.js';
import { change } from './state.js';
import { NO_STATUS, type Operation } from './step.js';
import { ViewChecker } from './views.js';

/** A relation as one of its users sees it: the request was sent to or received from the other. */
type View = 'none' | 'sent' | 'received' | 'friends';

function relationOf(view: View, me: User, other: User): Relation {
  if (view === 'sent') return `requested by ${me.label}`;
  if (view === 'received') return `requested by ${other.label}`;
  return view;
}

/** Returns an operation that lists the users to whom the current user has this relation. */
const listUsers =
  (path: string, view: View): Operation =>
  async (step) => {
    const { me, model } = step;
    const { response, since } = await step.send('GET', path, { needs: ['graph'] });
    if (!response) return;
    const checker = new ViewChecker(model, me, since);
    const users = checker.checkUsers(response.body, (user) => {
      if (user === me) return { possible: false, certain: false };
      const relations = model.relation(me, user).since(since);
      const matches = relations.map(({ value }) => value === relationOf(view, me, user));
      return { possible: matches.includes(true), certain: !matches.includes(false) };
    });
    for (const [index, user] of users.entries()) checker.checkProfile(response.body[index], user);
  };

interface Transition {
  from: View;
  to: View;
  /** The status if the relation is not `from`. */
  otherStatus: number;
  method: string;
  path(other: User, me: User): string;
}

/** Returns an operation that changes the relation of two users, unless the relation is uncertain or being changed. */
const transition =
  ({ from, to, otherStatus, method, path }: Transition): Operation =>
  async (step) => {
    const { me, model, fixture } = step;
    const other = pickUser(step);
    if (!other || other === me || me.id === undefined) return;
    const relation = model.relation(me, other);
    if (!relation.isWritable || Date.now() < relation.uncertainUntil) return;
    const fits = relation.known === relationOf(from, me, other);
    await step.write(
      [change(relation, (now) => (fits ? relationOf(to, me, other) : now))],
      async () => {
        const reply = await step.send(method, path(other, me), { needs: ['graph'] });
        const exists = other.profile.since(reply.since).map(({ value }) => value !== null);
        const status = fits ? 200 : otherStatus;
        step.expect(reply, ...(exists.includes(true) ? [status] : []), ...(exists.includes(false) ? [404] : []));
        return reply;
      },
      fits ? { done: 200, refused: [404] } : { done: NO_STATUS, refused: [404, otherStatus] },
      fixture.maxCommitDelayMs,
    );
  };

const sending = { from: 'none', to: 'sent', otherStatus: 409, method: 'POST' } as const;
const responding = { from: 'received', otherStatus: 404, method: 'POST' } as const;

export const friends = {
  listFriends: listUsers('/friends', 'friends'),
  listFriendRequests: listUsers('/friends/requests', 'received'),
  sendFriendRequest: transition({ ...sending, path: ({ id }) => `/friends/request?to=${id}` }),
  createRelationship: transition({
    ...sending,
    path: ({ id }, me) => `/create_relationship?me=${me.id}&them=${id}`,
  }),
  acceptFriendRequest: transition({ ...responding, to: 'friends', path: ({ id }) => `/friends/accept?from=${id}` }),
  declineFriendRequest: transition({ ...responding, to: 'none', path: ({ id }) => `/friends/decline?from=${id}` }),
  cancelFriendRequest: transition({
    from: 'sent',
    to: 'none',
    otherStatus: 404,
    method: 'POST',
    path: ({ id }) => `/friends/cancel?to=${id}`,
  }),
  removeFriend: transition({
    from: 'friends',
    to: 'none',
    otherStatus: 404,
    method: 'DELETE',
    path: ({ id }) => `/friends/remove?id=${id}`,
  }),
} satisfies Partial<Record<OperationId, Operation>>;
