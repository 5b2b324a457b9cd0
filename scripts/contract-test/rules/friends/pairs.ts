import type { CheckedResponse } from '../../exchange.js';
import { expectEqual } from '../../expect.js';
import { clearRelation, idsOf } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { Requester, TestUsers, User } from '../../users.js';

interface Pair {
  one: User;
  other: User;
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

export const includesId = ({ body }: CheckedResponse, id: number) => idsOf(body).includes(id);

/** Returns which of a user's lists contain another user: `friends`, `requested` (incoming requests), `both` or `nothing`. */
async function relationSeenBy({ send }: Requester, other: number): Promise<string> {
  const friends = includesId(await send(200, 'GET /friends'), other);
  const requested = includesId(await send(200, 'GET /friends/requests'), other);
  return friends ? (requested ? 'both' : 'friends') : requested ? 'requested' : 'nothing';
}

/** Throws an ExpectationError unless `relationSeenBy` returns these values for the two users, in the order of the pair. */
export async function expectRelation({ one, other }: Pair, ...wanted: [string, string]) {
  const found = [await relationSeenBy(one, other.id), await relationSeenBy(other, one.id)];
  expectEqual(await one.send(200, 'GET /friends'), 'the relation as each user sees it', found, wanted);
}
