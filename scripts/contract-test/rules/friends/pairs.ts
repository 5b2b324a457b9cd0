import type { CheckedResponse } from '../../client/index.js';
import { expectCode, expectEqual } from '../../expect.js';
import { clearRelation, idsOf } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { TestUsers, User } from '../../users.js';

export interface Pair {
  one: User;
  other: User;
}

/** The requests that change the relation of their sender to another user. */
const REQUEST_LINES = {
  requests: (id: number) => `POST /friends/request?to=${id}`,
  accepts: (id: number) => `POST /friends/accept?from=${id}`,
  declines: (id: number) => `POST /friends/decline?from=${id}`,
  cancels: (id: number) => `POST /friends/cancel?to=${id}`,
  removes: (id: number) => `DELETE /friends/remove?id=${id}`,
  relates: (id: number, ownId: number) => `POST /create_relationship?me=${ownId}&them=${id}`,
};

/** A request of one user of a pair that concerns the other user, such as `one requests`. */
export type PairRequest = `${keyof Pair} ${keyof typeof REQUEST_LINES}`;

/** A request of a pair with its expected status and, optionally, error code: `one requests 409 already_friends`. */
export type Step = `${PairRequest} ${number}` | `${PairRequest} ${number} ${string}`;

/** Returns the sender and the request line. */
export function resolvePairRequest({ one, other }: Pair, request: PairRequest): [sender: User, line: string] {
  const [name, verb] = request.split(' ') as [keyof Pair, keyof typeof REQUEST_LINES];
  const [sender, target] = name === 'one' ? [one, other] : [other, one];
  return [sender, REQUEST_LINES[verb](target.id, sender.id)];
}

/** Sends the requests in this order, and checks the statuses and error codes. */
export async function sendInOrder(pair: Pair, ...steps: Step[]): Promise<void> {
  for (const step of steps) {
    const [name, verb, status, code] = step.split(' ');
    const [sender, line] = resolvePairRequest(pair, `${name} ${verb}` as PairRequest);
    const response = await sender.send(Number(status), line);
    if (code !== undefined) expectCode(response, code);
  }
}

/**
 * Creates a rule about two users, at first without a relation. It is checked with the users in both orders, because a
 * service may store a pair in the order of ids.
 */
export const pairRule = (id: string, sentence: string, check: (pair: Pair, users: TestUsers) => Promise<void>) =>
  rule(id, sentence, async (users) => {
    const [flo, gus] = [await users.sharedUser('flo'), await users.sharedUser('gus')];
    for (const pair of [
      { one: flo, other: gus },
      { one: gus, other: flo },
    ]) {
      await clearRelation(flo, gus);
      await check(pair, users);
    }
  });

const includesId = ({ body }: CheckedResponse, id: number) => idsOf(body).includes(id);

/** What the lists of the two users contain. The receiver of a request sees it, the sender does not. */
const SEEN_BY_PAIR = {
  none: ['nothing', 'nothing'],
  'requested by one': ['nothing', 'requested'],
  'requested by other': ['requested', 'nothing'],
  friends: ['friends', 'friends'],
};

export type Relation = keyof typeof SEEN_BY_PAIR;

/** Returns which of a user's lists contain another user: `friends`, `requested` (incoming requests), `both` or `nothing`. */
async function relationSeenBy({ send }: User, { id }: User): Promise<string> {
  const isFriend = includesId(await send(200, 'GET /friends'), id);
  const hasRequested = includesId(await send(200, 'GET /friends/requests'), id);
  return isFriend ? (hasRequested ? 'both' : 'friends') : hasRequested ? 'requested' : 'nothing';
}

/** Throws an ExpectationError unless the lists of both users show this relation. */
export async function expectRelation({ one, other }: Pair, relation: Relation): Promise<void> {
  const seen = [await relationSeenBy(one, other), await relationSeenBy(other, one)];
  expectEqual(await one.send(200, 'GET /friends'), 'what each user sees', seen, SEEN_BY_PAIR[relation]);
}
