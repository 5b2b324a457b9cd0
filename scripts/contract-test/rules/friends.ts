import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectProblems, expectThat, fieldsOf } from '../expect.js';
import {
  BRIEF_PROFILE_FIELDS,
  clearRelation,
  FULL_PROFILE_FIELDS,
  findInFeed,
  idsOf,
  makeFriends,
  png,
  privateProfile,
  publish,
  UNUSED_ID,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers, User } from '../users.js';

interface Pair {
  one: User;
  other: User;
}

/**
 * Creates a rule about two users without a relation. It is checked with both orders of their ids, because a service may
 * store a pair in that order.
 */
const pairRule = (id: string, sentence: string, check: (pair: Pair, users: TestUsers) => Promise<void>) =>
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

/** Returns whether another user is in a user's lists of friends and incoming requests: in one, both or none. */
async function relationSeenBy({ send }: Requester, other: number): Promise<string> {
  const friends = includesId(await send(200, 'GET /friends'), other);
  const requested = includesId(await send(200, 'GET /friends/requests'), other);
  return friends ? (requested ? 'both' : 'friends') : requested ? 'requested' : 'nothing';
}

async function expectRelation({ one, other }: Pair, ...wanted: [string, string]) {
  const found = [await relationSeenBy(one, other.id), await relationSeenBy(other, one.id)];
  expectEqual(await one.send(200, 'GET /friends'), 'the relation as each user sees it', found, wanted);
}

export const friends: Subject = {
  name: 'Friends',
  rules: [
    pairRule(
      'friends.request.creates-pending',
      'POST /friends/request?to=<id> between users without a relation returns 200 and creates a pending request, which the other user sees.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.accept.makes-friends',
      'POST /friends/accept?from=<id> for a pending request returns 200 and makes the two users friends, in both directions.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(200, `POST /friends/accept?from=${pair.one.id}`);
        await expectRelation(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'friends.decline.removes-request',
      'POST /friends/decline?from=<id> for a pending request returns 200 and removes the request; the users have no relation.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(200, `POST /friends/decline?from=${pair.one.id}`);
        await expectRelation(pair, 'nothing', 'nothing');
        await pair.other.send(404, `POST /friends/accept?from=${pair.one.id}`);
      },
    ),

    pairRule(
      'friends.cancel.removes-request',
      'POST /friends/cancel?to=<id> for an outgoing request returns 200 and removes the request; the users have no relation.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/cancel?to=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'nothing');
        await pair.other.send(404, `POST /friends/accept?from=${pair.one.id}`);
      },
    ),

    pairRule(
      'friends.remove.ends-friendship',
      'DELETE /friends/remove?id=<id> by either of two friends returns 200 and ends the friendship for both.',
      async (pair) => {
        for (const [remover, friend] of [
          [pair.one, pair.other],
          [pair.other, pair.one],
        ] as const) {
          await makeFriends(pair.one, pair.other);
          await remover.send(200, `DELETE /friends/remove?id=${friend.id}`);
          await expectRelation(pair, 'nothing', 'nothing');
        }
      },
    ),

    pairRule(
      'friends.request.exists',
      'POST /friends/request returns 409 if a request to that user exists.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.request.crossed',
      'A friend request to a user whose own request is pending returns 409, and the users do not become friends.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.request.already-friends',
      'POST /friends/request returns 409 if the two users are already friends.',
      async (pair) => {
        await makeFriends(pair.one, pair.other);
        await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`);
        await expectRelation(pair, 'friends', 'friends');
      },
    ),

    rule(
      'friends.request.unknown-user',
      'POST /friends/request returns 404 if the user is not found.',
      async (users) => {
        await (await users.sharedUser('flo')).send(404, `POST /friends/request?to=${UNUSED_ID}`);
      },
    ),

    rule('friends.request.self', 'A friend request to oneself returns 400.', async (users) => {
      const { id, send } = await users.sharedUser('flo');
      expectProblems(await send(400, `POST /friends/request?to=${id}`), 'query.to');
    }),

    pairRule(
      'friends.accept.no-request',
      'POST /friends/accept returns 404 if there is no pending request from that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'nothing');
      },
    ),

    pairRule(
      'friends.accept.own-request',
      'A user cannot accept a request that they sent: POST /friends/accept returns 404.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.decline.no-request',
      'POST /friends/decline returns 404 if there is no pending request from that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.cancel.no-request',
      'POST /friends/cancel returns 404 if there is no outgoing request to that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/cancel?to=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(404, `POST /friends/cancel?to=${pair.one.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.remove.not-a-friend',
      'DELETE /friends/remove returns 404 if the user is not a friend.',
      async (pair) => {
        await pair.one.send(404, `DELETE /friends/remove?id=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(404, `DELETE /friends/remove?id=${pair.other.id}`);
        await pair.other.send(404, `DELETE /friends/remove?id=${pair.one.id}`);
        await expectRelation(pair, 'nothing', 'requested');
      },
    ),

    pairRule(
      'friends.friendship.no-request-left',
      'Friends have no pending request: accept, decline and cancel return 404, and the users stay friends.',
      async (pair) => {
        await makeFriends(pair.one, pair.other);
        for (const [user, friend] of [
          [pair.one, pair.other],
          [pair.other, pair.one],
        ] as const) {
          for (const path of ['accept?from', 'decline?from', 'cancel?to']) {
            await user.send(404, `POST /friends/${path}=${friend.id}`);
          }
        }
        await expectRelation(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'friends.third-user',
      'A friendship and a request concern two users only: between either of them and a third user, accept, decline, cancel and remove return 404 and change nothing.',
      async ({ one, other }, users) => {
        const third = await users.sharedUser('ada');
        await makeFriends(one, other);
        await third.send(200, `POST /friends/request?to=${one.id}`);
        for (const [user, stranger] of [
          [third, other],
          [other, third],
        ] as const) {
          for (const path of ['accept?from', 'decline?from', 'cancel?to']) {
            await user.send(404, `POST /friends/${path}=${stranger.id}`);
          }
          await user.send(404, `DELETE /friends/remove?id=${stranger.id}`);
        }
        await expectRelation({ one, other }, 'friends', 'friends');
        await expectRelation({ one: third, other: one }, 'nothing', 'requested');
        await expectRelation({ one: third, other }, 'nothing', 'nothing');
        await clearRelation(third, one);
      },
    ),

    rule(
      'friends.list.fields',
      'GET /friends returns 200 and a list of {id, name, username, profile_link, private}.',
      async (users) => {
        const { friend, owner, picture } = await privateProfile(users);
        const response = await friend.send(200, 'GET /friends');
        const { id, name, username } = owner;
        const entry = response.body.find((one: { id: number }) => one.id === id);
        expectEqual(response, 'the entry', entry, { id, name, username, profile_link: picture, private: true });
      },
    ),

    rule(
      'friends.requests.incoming-only',
      'GET /friends/requests returns 200 and the pending incoming requests, without outgoing ones.',
      async (users) => {
        const { owner, requester, requested } = await privateProfile(users);
        const response = await owner.send(200, 'GET /friends/requests');
        expectThat(
          includesId(response, requester.id) && !includesId(response, requested.id),
          'the incoming request and not the outgoing one',
          response,
        );
      },
    ),

    rule(
      'friends.requests.fields',
      'An incoming request has the fields of GET /profiles/{id} for its sender: the full profile if the account is public, {id, name, username} if it is private.',
      async (users) => {
        const { owner, requester, requested } = await privateProfile(users);
        for (const [response, userId, fields] of [
          [await owner.send(200, 'GET /friends/requests'), requester.id, FULL_PROFILE_FIELDS],
          [await requested.send(200, 'GET /friends/requests'), owner.id, BRIEF_PROFILE_FIELDS],
        ] as const) {
          expectEqual(
            response,
            'the fields',
            fieldsOf(response.body.find((entry: { id: number }) => entry.id === userId)),
            fields,
          );
        }
      },
    ),

    pairRule(
      'friends.friendship.changes-visibility',
      'The posts of a private account are visible to a friend from the moment the friendship begins until it ends. A request does not make them visible.',
      async ({ one, other }) => {
        await one.send(200, 'PUT /profiles/me', { form: { private: 'true' } });
        const { id, image } = await publish(one, { image: png() });
        for (const [user, request, visible] of [
          [other, `POST /friends/request?to=${one.id}`, false],
          [one, `POST /friends/decline?from=${other.id}`, false],
          [other, `POST /friends/request?to=${one.id}`, false],
          [other, `POST /friends/cancel?to=${one.id}`, false],
          [other, `POST /create_relationship?me=${other.id}&them=${one.id}`, false],
          [one, `POST /friends/accept?from=${other.id}`, true],
          [other, `DELETE /friends/remove?id=${one.id}`, false],
          [one, `POST /friends/request?to=${other.id}`, false],
          [other, `POST /friends/accept?from=${one.id}`, true],
          [one, `DELETE /friends/remove?id=${other.id}`, false],
        ] as const) {
          await user.send(200, request);
          for (const path of [`/posts/${id}`, image]) await other.send(visible ? 200 : 404, `GET ${path}`);
          const profile = await other.send(200, `GET /profiles/${one.id}`);
          expectEqual(
            profile,
            `a ${visible ? 'full' : 'brief'} profile after ${request}`,
            'private' in profile.body,
            visible,
          );
          const { found, response } = await findInFeed(other, { id }, 100);
          expectEqual(response, `the post in the feed after ${request}`, found, visible);
        }
        await one.send(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),

    ...(
      [
        ['POST', '/friends/request', 'to', 400],
        ['POST', '/friends/accept', 'from', 404],
        ['POST', '/friends/decline', 'from', 404],
        ['POST', '/friends/cancel', 'to', 404],
        ['DELETE', '/friends/remove', 'id', 404],
      ] as const
    ).map(([method, path, name, ownIdStatus]) =>
      rule(
        `friends.${path.split('/')[2]}.id`,
        `${method} ${path} returns 400 for an invalid id, 404 for an unknown id and ${ownIdStatus} for the user’s own id.`,
        async (users) => {
          const { id: own, send } = await users.sharedUser('flo');
          for (const id of ['0', 'x', '', '9007199254740992'])
            expectProblems(await send(400, `${method} ${path}?${name}=${id}`), `query.${name}`);
          expectProblems(await send(400, `${method} ${path}`), `query.${name}`);
          await send(404, `${method} ${path}?${name}=${UNUSED_ID}`);
          await send(ownIdStatus, `${method} ${path}?${name}=${own}`);
        },
      ),
    ),

    pairRule(
      'relationships.create.is-a-request',
      'POST /create_relationship sends a friend request, as POST /friends/request does; it never makes two users friends without the other’s consent.',
      async (pair) => {
        await pair.one.send(200, `POST /create_relationship?me=${pair.one.id}&them=${pair.other.id}`);
        await expectRelation(pair, 'nothing', 'requested');
        await pair.other.send(409, `POST /create_relationship?me=${pair.other.id}&them=${pair.one.id}`);
        await expectRelation(pair, 'nothing', 'requested');
        await pair.other.send(200, `POST /friends/accept?from=${pair.one.id}`);
        await expectRelation(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'relationships.create.conditions',
      'POST /create_relationship returns 409 for friends and for an existing request, and 404 for an unknown user.',
      async ({ one, other }) => {
        const path = `POST /create_relationship?me=${one.id}&them=`;
        await one.send(404, `${path}${UNUSED_ID}`);
        await one.send(200, `POST /friends/request?to=${other.id}`);
        await one.send(409, `${path}${other.id}`);
        await other.send(200, `POST /friends/accept?from=${one.id}`);
        await one.send(409, `${path}${other.id}`);
      },
    ),

    pairRule(
      'relationships.create.me',
      'POST /create_relationship returns 403 if the parameter me is not the authenticated user. The ids are validated before this check and looked up after it, so the body of the 403 is the same for missing and existing users.',
      async ({ one, other }) => {
        const path = 'POST /create_relationship?';
        const rejected = [];
        for (const [me, them] of [
          [other.id, UNUSED_ID],
          [other.id, one.id],
          [other.id, other.id],
          [UNUSED_ID, other.id],
        ])
          rejected.push(await one.send(403, `${path}me=${me}&them=${them}`));
        for (const response of rejected) expectEqual(response, 'the body', response.body, rejected[0]?.body);
        expectProblems(await one.send(400, `${path}me=${other.id}&them=0`), 'query.them');
        expectProblems(await one.send(400, `${path}me=${other.id}&them=${one.id}&kind=x`), 'query.kind');
        await one.send(400, `${path}me=${other.id}&them=${one.id}`, { json: { them: one.id } });
        await expectRelation({ one, other }, 'nothing', 'nothing');
      },
    ),

    rule(
      'relationships.create.query',
      'POST /create_relationship requires the parameters me and them; a request to oneself returns 400.',
      async (users) => {
        const { id, send } = await users.sharedUser('flo');
        const path = 'POST /create_relationship';
        expectProblems(await send(400, path), 'query.me', 'query.them');
        expectProblems(await send(400, `${path}?me=${id}`), 'query.them');
        expectProblems(await send(400, `${path}?them=${UNUSED_ID}`), 'query.me');
        expectProblems(await send(400, `${path}?me=${id}&them=${id}`), 'query.them');
      },
    ),
  ],
};
