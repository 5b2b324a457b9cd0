import type { OperationId } from '../../generated/types.js';
import { pickUser } from './accounts.js';
import type { Relation, User } from './model.js';
import { change } from './state.js';
import { NO_STATUS, type Operation, type Step } from './step.js';
import { ViewChecker } from './views.js';

async function listFriends(step: Step): Promise<void> {
  const { me, model } = step;
  const { response, since } = await step.send('GET', '/friends', { needs: ['graph'] });
  if (!response) return;
  const checker = new ViewChecker(model, me, since);
  const users = checker.checkUsers(response.body, (user) => (user === me ? NEVER : model.friendship(me, user, since)));
  for (const [index, user] of users.entries()) checker.checkProfile(response.body[index], user);
}

async function listFriendRequests(step: Step): Promise<void> {
  const { me, model } = step;
  const { response, since } = await step.send('GET', '/friends/requests', { needs: ['graph'] });
  if (!response) return;
  const checker = new ViewChecker(model, me, since);
  const users = checker.checkUsers(response.body, (user) => {
    if (user === me) return NEVER;
    const relations = model.relation(me, user).since(since);
    const requested = relations.map(({ value }) => value === `requested by ${user.label}`);
    return { possible: requested.includes(true), certain: !requested.includes(false) };
  });
  for (const [index, user] of users.entries()) checker.checkProfile(response.body[index], user);
}

const NEVER = { possible: false, certain: false };

interface Transition {
  /** The relation before and after. */
  from(me: User, other: User): Relation;
  to(me: User, other: User): Relation;
  /** The status from any other relation. */
  otherStatus: number;
  path(me: User, other: User): string;
}

const requestedBy = (by: User): Relation => `requested by ${by.label}`;

/** Returns an operation that changes the relation of two users, unless the relation is uncertain or being changed. */
const transition =
  (method: string, { from, to, otherStatus, path }: Transition): Operation =>
  async (step) => {
    const { me, model, fixture } = step;
    const other = pickUser(step);
    if (!other || other === me || me.id === undefined) return;
    const relation = model.relation(me, other);
    if (!relation.isWritable || Date.now() < relation.uncertainUntil) return;
    const fits = relation.known === from(me, other);
    await step.write(
      [change(relation, (now) => (fits ? to(me, other) : now))],
      async () => {
        const reply = await step.send(method, path(me, other), { needs: ['graph'] });
        const exists = other.profile.since(reply.since).map(({ value }) => value !== null);
        const status = fits ? 200 : otherStatus;
        step.expect(reply, ...(exists.includes(true) ? [status] : []), ...(exists.includes(false) ? [404] : []));
        return reply;
      },
      fits ? { done: 200, refused: [404] } : { done: NO_STATUS, refused: [404, otherStatus] },
      fixture.maxCommitDelayMs,
    );
  };

const sending: Omit<Transition, 'path'> = { from: () => 'none', to: (me) => requestedBy(me), otherStatus: 409 };

const sendFriendRequest = transition('POST', { ...sending, path: (_, { id }) => `/friends/request?to=${id}` });

const createRelationship = transition('POST', {
  ...sending,
  path: (me, { id }) => `/create_relationship?me=${me.id}&them=${id}`,
});

export const friends = {
  listFriends,
  listFriendRequests,
  sendFriendRequest,
  createRelationship,
  acceptFriendRequest: transition('POST', {
    from: (_, other) => requestedBy(other),
    to: () => 'friends',
    otherStatus: 404,
    path: (_, { id }) => `/friends/accept?from=${id}`,
  }),
  declineFriendRequest: transition('POST', {
    from: (_, other) => requestedBy(other),
    to: () => 'none',
    otherStatus: 404,
    path: (_, { id }) => `/friends/decline?from=${id}`,
  }),
  cancelFriendRequest: transition('POST', {
    from: (me) => requestedBy(me),
    to: () => 'none',
    otherStatus: 404,
    path: (_, { id }) => `/friends/cancel?to=${id}`,
  }),
  removeFriend: transition('DELETE', {
    from: () => 'friends',
    to: () => 'none',
    otherStatus: 404,
    path: (_, { id }) => `/friends/remove?id=${id}`,
  }),
} satisfies Partial<Record<OperationId, Operation>>;
