import type { CheckedResponse } from '../../exchange.js';
import { expectEqual, expectThat } from '../../expect.js';
import { clearRelation, idsOf, makeFriends } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { User } from '../../users.js';
import { expectOneSuccess, getPair, type Pair, type Request, ROUNDS_PER_RACE, race } from './races.js';

/** Returns the ids that a user's list at this path contains. */
const idsAt = async ({ send }: User, path: string): Promise<number[]> => idsOf((await send(200, `GET ${path}`)).body);

type Relation = 'none' | 'requested by one' | 'requested by other' | 'friends';

/** Returns the relation between two users. Checks that a friendship is mutual. */
async function relationOf({ one, other }: Pair): Promise<Relation> {
  const [friends, friendsOfOther] = [await idsAt(one, '/friends'), await idsAt(other, '/friends')];
  const [toOne, toOther] = [await idsAt(one, '/friends/requests'), await idsAt(other, '/friends/requests')];
  const areFriends = friends.includes(other.id);
  const requestedByOther = toOne.includes(other.id);
  const requestedByOne = toOther.includes(one.id);
  const response = await one.send(200, 'GET /friends');
  expectThat(areFriends === friendsOfOther.includes(one.id), 'a friendship that both have, or neither', response);
  const relations = [areFriends, requestedByOther, requestedByOne].filter(Boolean);
  expectThat(relations.length <= 1, 'one relation at a time', response);
  if (areFriends) return 'friends';
  return requestedByOne ? 'requested by one' : requestedByOther ? 'requested by other' : 'none';
}

/** Returns the relation after this request succeeds. */
function relationAfter([user, line]: Request, { one }: Pair): Relation {
  if (line.includes('/accept')) return 'friends';
  if (!/friends\/request|create_relationship/.test(line)) return 'none';
  return user === one ? 'requested by one' : 'requested by other';
}

/** Races between requests of two users, each starting from the relation that `prepare` creates. */
const RELATION_RACES: [
  id: string,
  description: string,
  prepare: (pair: Pair) => Promise<unknown>,
  requests: (pair: Pair) => Request[],
  loserStatus: number,
][] = [
  [
    'request-crossed',
    'If two friend requests between the same users in opposite directions are sent at the same time, one succeeds and the other returns 409; the users are not friends',
    async () => undefined,
    ({ one, other }) => [
      [one, `POST /friends/request?to=${other.id}`],
      [other, `POST /friends/request?to=${one.id}`],
    ],
    409,
  ],
  [
    'relationship-crossed',
    'If friend requests and POST /create_relationship between the same users are sent at the same time, one succeeds and the others return 409',
    async () => undefined,
    ({ one, other }) => [
      [one, `POST /create_relationship?me=${one.id}&them=${other.id}`],
      [other, `POST /create_relationship?me=${other.id}&them=${one.id}`],
      [other, `POST /friends/request?to=${one.id}`],
    ],
    409,
  ],
  [
    'request-twice',
    'If a user sends the same friend request several times at the same time, one succeeds and the others return 409',
    async () => undefined,
    ({ one, other }) => Array.from({ length: 3 }, (): Request => [one, `POST /friends/request?to=${other.id}`]),
    409,
  ],
  [
    'accept-twice',
    'If a user accepts a friend request several times at the same time, one succeeds and the others return 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => Array.from({ length: 3 }, (): Request => [other, `POST /friends/accept?from=${one.id}`]),
    404,
  ],
  [
    'accept-decline',
    'If a friend request is accepted and declined at the same time, one of the two succeeds and the other returns 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/accept?from=${one.id}`],
      [other, `POST /friends/decline?from=${one.id}`],
    ],
    404,
  ],
  [
    'accept-cancel',
    'If a friend request is accepted and canceled at the same time, one of the two succeeds and the other returns 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/accept?from=${one.id}`],
      [one, `POST /friends/cancel?to=${other.id}`],
    ],
    404,
  ],
  [
    'decline-cancel',
    'If a friend request is declined and canceled at the same time, one of the two succeeds and the other returns 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/decline?from=${one.id}`],
      [one, `POST /friends/cancel?to=${other.id}`],
    ],
    404,
  ],
  [
    'remove-twice',
    'If both friends end their friendship at the same time, one of the two succeeds and the other returns 404',
    ({ one, other }) => makeFriends(one, other),
    ({ one, other }) => [
      [one, `DELETE /friends/remove?id=${other.id}`],
      [other, `DELETE /friends/remove?id=${one.id}`],
    ],
    404,
  ],
];

export const relationRaces = RELATION_RACES.map(([id, description, prepare, requestsOf, loserStatus]) =>
  rule(
    `concurrency.friends.${id}`,
    `${description}. The resulting relation is that of the successful request.`,
    async (users) => {
      const pair = await getPair(users);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        await clearRelation(pair.one, pair.other);
        await prepare(pair);
        const requests = requestsOf(pair);
        if (round % 2 === 1) requests.reverse();
        const responses = await race([200, loserStatus], ...requests);
        expectOneSuccess(responses, 'the requests');
        const winner = responses.findIndex(({ status }) => status === 200);
        const wanted = relationAfter(requests[winner] as Request, pair);
        expectEqual(responses[winner] as CheckedResponse, 'the relation', await relationOf(pair), wanted);
      }
      await clearRelation(pair.one, pair.other);
    },
  ),
);

export const manyUsersRace = rule(
  'concurrency.friends.users',
  'If several users send friend requests to one user at the same time, all succeed and are listed in order of id. Concurrent acceptances of these requests all succeed too.',
  async (users) => {
    const { one, other } = await getPair(users);
    const participants = [
      other,
      await users.sharedUser('ada'),
      await users.sharedUser('ben'),
      await users.sharedUser('sam'),
    ];
    const ids = participants.map(({ id }) => id).sort((first, second) => first - second);
    const sent = await race(
      [200],
      ...participants.map((user): Request => [user, `POST /friends/request?to=${one.id}`]),
    );
    expectEqual(sent[0] as CheckedResponse, 'the requests', await idsAt(one, '/friends/requests'), ids);
    const accepted = await race([200], ...ids.map((id): Request => [one, `POST /friends/accept?from=${id}`]));
    expectEqual(accepted[0] as CheckedResponse, 'the friends', await idsAt(one, '/friends'), ids);
    expectEqual(accepted[0] as CheckedResponse, 'the requests', await idsAt(one, '/friends/requests'), []);
    for (const user of participants) await clearRelation(one, user);
  },
);
