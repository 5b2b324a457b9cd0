import type { OperationId } from '../../generated/types.js';
import { somebody } from './accounts.js';
import { change } from './cell.js';
import { Sight } from './sight.js';
import type { Operation, Turn } from './turn.js';
import type { Person, Tie } from './world.js';

async function listFriends(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const { answer, since } = await turn.ask('GET', '/friends', { needs: ['graph'] });
  if (!answer) return;
  const sight = new Sight(world, me, since);
  const people = sight.people(answer.body, (person) => (person === me ? NEVER : world.friendship(me, person, since)));
  for (const [index, person] of people.entries()) sight.profile(answer.body[index], person);
}

async function listFriendRequests(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const { answer, since } = await turn.ask('GET', '/friends/requests', { needs: ['graph'] });
  if (!answer) return;
  const sight = new Sight(world, me, since);
  const people = sight.people(answer.body, (person) => {
    if (person === me) return NEVER;
    const ties = world.tie(me, person).since(since);
    const asked = ties.map(({ value }) => value === `asked by ${person.label}`);
    return { possible: asked.includes(true), certain: !asked.includes(false) };
  });
  for (const [index, person] of people.entries()) sight.profile(answer.body[index], person);
}

const NEVER = { possible: false, certain: false };

interface Step {
  /** The tie from which it starts, and to which it leads. */
  from(me: Person, other: Person): Tie;
  to(me: Person, other: Person): Tie;
  /** The answer in any other state. */
  otherwise: number;
  path(me: Person, other: Person): string;
}

const asked = (by: Person): Tie => `asked by ${by.label}`;

/** A step from one state to another, of which nobody else takes one meanwhile between the same two people. */
const step =
  (method: string, { from, to, otherwise, path }: Step): Operation =>
  async (turn) => {
    const { me, world, stage } = turn;
    const other = somebody(turn);
    if (!other || other === me || me.id === undefined) return;
    const tie = world.tie(me, other);
    if (!tie.settled || Date.now() < tie.openUntil) return;
    const fits = tie.known === from(me, other);
    await turn.write(
      [change(tie, (now) => (fits ? to(me, other) : now))],
      async () => {
        const reply = await turn.ask(method, path(me, other), { needs: ['graph'] });
        const there = other.profile.since(reply.since).map(({ value }) => value !== null);
        const status = fits ? 200 : otherwise;
        turn.expect(reply, ...(there.includes(true) ? [status] : []), ...(there.includes(false) ? [404] : []));
        return reply;
      },
      fits ? { done: 200, refused: [404] } : { done: -1, refused: [404, otherwise] },
      stage.maxCommitDelayMs,
    );
  };

const ask: Omit<Step, 'path'> = { from: () => 'none', to: (me) => asked(me), otherwise: 409 };

const sendFriendRequest = step('POST', { ...ask, path: (_, { id }) => `/friends/request?to=${id}` });

const createRelationship = step('POST', {
  ...ask,
  path: (me, { id }) => `/create_relationship?me=${me.id}&them=${id}`,
});

export const friends = {
  listFriends,
  listFriendRequests,
  sendFriendRequest,
  createRelationship,
  acceptFriendRequest: step('POST', {
    from: (_, other) => asked(other),
    to: () => 'friends',
    otherwise: 404,
    path: (_, { id }) => `/friends/accept?from=${id}`,
  }),
  declineFriendRequest: step('POST', {
    from: (_, other) => asked(other),
    to: () => 'none',
    otherwise: 404,
    path: (_, { id }) => `/friends/decline?from=${id}`,
  }),
  cancelFriendRequest: step('POST', {
    from: (me) => asked(me),
    to: () => 'none',
    otherwise: 404,
    path: (_, { id }) => `/friends/cancel?to=${id}`,
  }),
  removeFriend: step('DELETE', {
    from: () => 'friends',
    to: () => 'none',
    otherwise: 404,
    path: (_, { id }) => `/friends/remove?id=${id}`,
  }),
} satisfies Partial<Record<OperationId, Operation>>;
