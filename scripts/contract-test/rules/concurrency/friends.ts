import { expectEqual } from '../../expect.js';
import { clearRelation, idsOf } from '../../fixtures.js';
import { rule } from '../../rule.js';
import {
  expectRelation,
  type PairRequest,
  type Relation,
  resolvePairRequest,
  type Step,
  sendInOrder,
} from '../friends/pairs.js';
import { expectOneSuccess, getPair, race, raceRule } from './races.js';

/** A race between requests of two users. */
type RelationRace = [id: string, description: string, setup: Step[], requests: PairRequest[], loserStatus: number];

const RELATION_RACES: RelationRace[] = [
  [
    'request-crossed',
    'If two friend requests between the same users in opposite directions are sent at the same time, one succeeds and the other returns 409; the users are not friends',
    [],
    ['one requests', 'other requests'],
    409,
  ],
  [
    'relationship-crossed',
    'If friend requests and POST /create_relationship between the same users are sent at the same time, one succeeds and the others return 409',
    [],
    ['one relates', 'other relates', 'other requests'],
    409,
  ],
  [
    'request-twice',
    'If a user sends the same friend request several times at the same time, one succeeds and the others return 409',
    [],
    ['one requests', 'one requests', 'one requests'],
    409,
  ],
  [
    'accept-twice',
    'If a user accepts a friend request several times at the same time, one succeeds and the others return 404',
    ['one requests 200'],
    ['other accepts', 'other accepts', 'other accepts'],
    404,
  ],
  [
    'accept-decline',
    'If a friend request is accepted and declined at the same time, one of the two succeeds and the other returns 404',
    ['one requests 200'],
    ['other accepts', 'other declines'],
    404,
  ],
  [
    'accept-cancel',
    'If a friend request is accepted and canceled at the same time, one of the two succeeds and the other returns 404',
    ['one requests 200'],
    ['other accepts', 'one cancels'],
    404,
  ],
  [
    'decline-cancel',
    'If a friend request is declined and canceled at the same time, one of the two succeeds and the other returns 404',
    ['one requests 200'],
    ['other declines', 'one cancels'],
    404,
  ],
  [
    'remove-twice',
    'If both friends end their friendship at the same time, one of the two succeeds and the other returns 404',
    ['one requests 200', 'other accepts 200'],
    ['one removes', 'other removes'],
    404,
  ],
];

/** Returns the relation after this request succeeds. */
function relationAfter(request: PairRequest): Relation {
  const [sender, verb] = request.split(' ');
  if (verb === 'accepts') return 'friends';
  if (verb !== 'requests' && verb !== 'relates') return 'none';
  return sender === 'one' ? 'requested by one' : 'requested by other';
}

export const relationRaces = RELATION_RACES.map(([id, description, setup, requests, loserStatus]) =>
  raceRule(
    `concurrency.friends.${id}`,
    `${description}. The resulting relation is that of the successful request.`,
    async (pair, round) => {
      await clearRelation(pair.one, pair.other);
      await sendInOrder(pair, ...setup);
      // In both orders, because the request that is sent first usually succeeds.
      const ordered = round % 2 === 1 ? requests.toReversed() : requests;
      const lines = ordered.map((request) => resolvePairRequest(pair, request));
      const responses = await race([200, loserStatus], ...lines);
      const winner = responses.indexOf(expectOneSuccess(responses));
      await expectRelation(pair, relationAfter(ordered[winner] as PairRequest));
      await clearRelation(pair.one, pair.other);
    },
  ),
);

export const manyUsersRace = rule(
  'concurrency.friends.users',
  'If several users send friend requests to one user at the same time, all succeed and are listed by ascending user id. Concurrent acceptances of these requests all succeed too.',
  async (users) => {
    const { one, other } = await getPair(users);
    const participants = [other, ...(await Promise.all(['ada', 'ben', 'sam'].map(users.sharedUser)))];
    const ids = participants.map(({ id }) => id).sort((first, second) => first - second);
    const idsAt = async (path: string) => idsOf((await one.send(200, `GET ${path}`)).body);
    const sendAll = (request: PairRequest) =>
      race(200, ...participants.map((user) => resolvePairRequest({ one, other: user }, request)));
    const [requested] = await sendAll('other requests');
    expectEqual(requested, 'the requests', await idsAt('/friends/requests'), ids);
    const [accepted] = await sendAll('one accepts');
    expectEqual(accepted, 'the friends', await idsAt('/friends'), ids);
    expectEqual(accepted, 'the requests', await idsAt('/friends/requests'), []);
    for (const user of participants) await clearRelation(one, user);
  },
);
