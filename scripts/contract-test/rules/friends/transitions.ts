import type { Rule } from '../../rule.js';
import { expectRelation, pairRule, type Relation, type Step, sendInOrder } from './pairs.js';

/** Requests of two users without a relation, in order, and the relation that they result in. */
const TRANSITIONS: [id: string, sentence: string, steps: Step[], relation: Relation][] = [
  [
    'friends.request.creates-pending',
    'POST /friends/request?to=<id> between users without a relation returns 200 and creates a pending request, which the other user sees.',
    ['one requests 200'],
    'requested by one',
  ],
  [
    'friends.accept.makes-friends',
    'POST /friends/accept?from=<id> for a pending request returns 200 and makes the two users friends, in both directions.',
    ['one requests 200', 'other accepts 200'],
    'friends',
  ],
  [
    'friends.decline.removes-request',
    'POST /friends/decline?from=<id> for a pending request returns 200 and removes the request; the users have no relation.',
    ['one requests 200', 'other declines 200', 'other accepts 404'],
    'none',
  ],
  [
    'friends.cancel.removes-request',
    'POST /friends/cancel?to=<id> for an outgoing request returns 200 and removes the request; the users have no relation.',
    ['one requests 200', 'one cancels 200', 'other accepts 404'],
    'none',
  ],
  [
    'friends.request.exists',
    'POST /friends/request returns 409 request_already_sent if a request to that user exists.',
    ['one requests 200', 'one requests 409 request_already_sent'],
    'requested by one',
  ],
  [
    'friends.request.crossed',
    'A friend request to a user whose own request is pending returns 409 request_already_received, and the users do not become friends.',
    ['one requests 200', 'other requests 409 request_already_received'],
    'requested by one',
  ],
  [
    'friends.request.already-friends',
    'POST /friends/request returns 409 already_friends if the two users are already friends.',
    ['one requests 200', 'other accepts 200', 'one requests 409 already_friends', 'other requests 409 already_friends'],
    'friends',
  ],
  [
    'friends.accept.no-request',
    'POST /friends/accept returns 404 if there is no pending request from that user.',
    ['one accepts 404'],
    'none',
  ],
  [
    'friends.accept.own-request',
    'A user cannot accept a request that they sent: POST /friends/accept returns 404.',
    ['one requests 200', 'one accepts 404'],
    'requested by one',
  ],
  [
    'friends.decline.no-request',
    'POST /friends/decline returns 404 if there is no pending request from that user.',
    ['one declines 404', 'one requests 200', 'one declines 404'],
    'requested by one',
  ],
  [
    'friends.cancel.no-request',
    'POST /friends/cancel returns 404 if there is no outgoing request to that user.',
    ['one cancels 404', 'one requests 200', 'other cancels 404'],
    'requested by one',
  ],
  [
    'friends.remove.not-a-friend',
    'DELETE /friends/remove returns 404 if the user is not a friend.',
    ['one removes 404', 'one requests 200', 'one removes 404', 'other removes 404'],
    'requested by one',
  ],
  [
    'friends.friendship.no-request-left',
    'Friends have no pending request: accept, decline and cancel return 404, and the users stay friends.',
    [
      'one requests 200',
      'other accepts 200',
      ...(['one accepts 404', 'one declines 404', 'one cancels 404'] as const),
      ...(['other accepts 404', 'other declines 404', 'other cancels 404'] as const),
    ],
    'friends',
  ],
];

export const transitionRules: Rule[] = [
  ...TRANSITIONS.map(([id, sentence, steps, relation]) =>
    pairRule(id, sentence, async (pair) => {
      await sendInOrder(pair, ...steps);
      await expectRelation(pair, relation);
    }),
  ),

  pairRule(
    'friends.remove.ends-friendship',
    'DELETE /friends/remove?id=<id> by either of two friends returns 200 and ends the friendship for both.',
    async (pair) => {
      for (const removal of ['one removes 200', 'other removes 200'] as const) {
        await sendInOrder(pair, 'one requests 200', 'other accepts 200', removal);
        await expectRelation(pair, 'none');
      }
    },
  ),
];
