import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectProblems, expectThat, fieldsOf } from '../expect.js';
import { befriend, feedHas, part, png, privateProfile, publish } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { Requester, TestUsers, User } from '../users.js';

const NOBODY = 9007199254740991;

interface Pair {
  one: User;
  other: User;
}

/**
 * A rule about two users without a relation. It is checked for both orders of their ids, by which a service may store a
 * pair.
 */
const pairRule = (id: string, sentence: string, check: (pair: Pair, cast: TestUsers) => Promise<void>) =>
  rule(id, sentence, async (cast) => {
    const [flo, gus] = [await cast.sharedUser('flo'), await cast.sharedUser('gus')];
    for (const pair of [
      { one: flo, other: gus },
      { one: gus, other: flo },
    ]) {
      await part(flo, gus);
      await check(pair, cast);
    }
  });

const has = ({ body }: CheckedResponse, id: number) => body.some((entry: { id: number }) => entry.id === id);

/** What each of the two sees of the other: whether they are friends, and whether the other has asked. */
async function tie({ send }: Requester, other: number): Promise<string> {
  const friends = has(await send(200, 'GET /friends'), other);
  const asked = has(await send(200, 'GET /friends/requests'), other);
  return friends ? (asked ? 'both' : 'friends') : asked ? 'asked' : 'nothing';
}

async function tiesAre({ one, other }: Pair, ...wanted: [string, string]) {
  const found = [await tie(one, other.id), await tie(other, one.id)];
  expectEqual(await one.send(200, 'GET /friends'), 'what the two see of each other', found, wanted);
}

export const friends: Subject = {
  name: 'Friends',
  rules: [
    pairRule(
      'friends.request.creates-pending',
      'POST /friends/request?to=<id> between users without a relation returns 200 and creates a pending request, which the other user sees.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.accept.makes-friends',
      'POST /friends/accept?from=<id> for a pending request returns 200 and makes the two users friends, in both directions.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(200, `POST /friends/accept?from=${pair.one.id}`);
        await tiesAre(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'friends.decline.removes-request',
      'POST /friends/decline?from=<id> for a pending request returns 200 and removes the request; the users have no relation.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(200, `POST /friends/decline?from=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'nothing');
        await pair.other.send(404, `POST /friends/accept?from=${pair.one.id}`);
      },
    ),

    pairRule(
      'friends.cancel.removes-request',
      'POST /friends/cancel?to=<id> for an outgoing request returns 200 and removes the request; the users have no relation.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/cancel?to=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'nothing');
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
          await befriend(pair.one, pair.other);
          await remover.send(200, `DELETE /friends/remove?id=${friend.id}`);
          await tiesAre(pair, 'nothing', 'nothing');
        }
      },
    ),

    pairRule(
      'friends.request.exists',
      'POST /friends/request returns 409 if a request to that user exists.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.request.crossed',
      'A friend request to a user who has already requested the authenticated user returns 409 and makes nobody a friend.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.request.already-friends',
      'POST /friends/request returns 409 if the two users are already friends.',
      async (pair) => {
        await befriend(pair.one, pair.other);
        await pair.one.send(409, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(409, `POST /friends/request?to=${pair.one.id}`);
        await tiesAre(pair, 'friends', 'friends');
      },
    ),

    rule(
      'friends.request.unknown-user',
      'POST /friends/request returns 404 if the user is not found.',
      async (cast) => {
        await (await cast.sharedUser('flo')).send(404, `POST /friends/request?to=${NOBODY}`);
      },
    ),

    rule('friends.request.self', 'A friend request to oneself returns 400.', async (cast) => {
      const { id, send } = await cast.sharedUser('flo');
      expectProblems(await send(400, `POST /friends/request?to=${id}`), 'query.to');
    }),

    pairRule(
      'friends.accept.no-request',
      'POST /friends/accept returns 404 if there is no pending request from that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'nothing');
      },
    ),

    pairRule(
      'friends.accept.own-request',
      'A user cannot accept the request that they sent: POST /friends/accept returns 404.',
      async (pair) => {
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(404, `POST /friends/accept?from=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.decline.no-request',
      'POST /friends/decline returns 404 if there is no pending request from that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.one.send(404, `POST /friends/decline?from=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.cancel.no-request',
      'POST /friends/cancel returns 404 if there is no outgoing request to that user.',
      async (pair) => {
        await pair.one.send(404, `POST /friends/cancel?to=${pair.other.id}`);
        await pair.one.send(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.send(404, `POST /friends/cancel?to=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'asked');
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
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    pairRule(
      'friends.friendship.no-request-left',
      'Between friends there is no request: accept, decline and cancel return 404 and the friendship stays.',
      async (pair) => {
        await befriend(pair.one, pair.other);
        for (const [user, friend] of [
          [pair.one, pair.other],
          [pair.other, pair.one],
        ] as const) {
          for (const path of ['accept?from', 'decline?from', 'cancel?to']) {
            await user.send(404, `POST /friends/${path}=${friend.id}`);
          }
        }
        await tiesAre(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'friends.third-user',
      'A friendship and a request concern two users only: between either of them and a third user, accept, decline, cancel and remove return 404 and change nothing.',
      async ({ one, other }, cast) => {
        const third = await cast.sharedUser('ada');
        await befriend(one, other);
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
        await tiesAre({ one, other }, 'friends', 'friends');
        await tiesAre({ one: third, other: one }, 'nothing', 'asked');
        await tiesAre({ one: third, other }, 'nothing', 'nothing');
        await part(third, one);
      },
    ),

    rule(
      'friends.list.fields',
      'GET /friends returns 200 and a list of {id, name, username, profile_link, private}.',
      async (cast) => {
        const { friend, owner, picture } = await privateProfile(cast);
        const answer = await friend.send(200, 'GET /friends');
        const { id, name, username } = owner;
        const entry = answer.body.find((one: { id: number }) => one.id === id);
        expectEqual(answer, 'the entry', entry, { id, name, username, profile_link: picture, private: true });
      },
    ),

    rule(
      'friends.requests.incoming-only',
      'GET /friends/requests returns 200 and the pending incoming requests, not the outgoing ones.',
      async (cast) => {
        const { owner, requester, requested } = await privateProfile(cast);
        const answer = await owner.send(200, 'GET /friends/requests');
        expectThat(
          has(answer, requester.id) && !has(answer, requested.id),
          'whoever has asked the caller, and nobody else',
          answer,
        );
      },
    ),

    rule(
      'friends.requests.fields',
      'An incoming request shows what GET /profiles/{id} shows of that user: the full profile if it is public, {id, name, username} if it is private.',
      async (cast) => {
        const { owner, requester, requested } = await privateProfile(cast);
        for (const [answer, who, fields] of [
          [await owner.send(200, 'GET /friends/requests'), requester.id, 'id name private profile_link username'],
          [await requested.send(200, 'GET /friends/requests'), owner.id, 'id name username'],
        ] as const) {
          expectEqual(
            answer,
            'the fields',
            fieldsOf(answer.body.find((entry: { id: number }) => entry.id === who)),
            fields,
          );
        }
      },
    ),

    pairRule(
      'friends.friendship.changes-visibility',
      'A friendship shows the posts of a private account as soon as it begins, and hides them as soon as it ends. A request shows nothing.',
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
          const { found, answer } = await feedHas(other, { id }, 100);
          expectEqual(answer, `the post in the feed after ${request}`, found, visible);
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
    ).map(([method, path, name, ownId]) =>
      rule(
        `friends.${path.split('/')[2]}.id`,
        `${method} ${path}: an invalid id returns 400; a well-formed id of no user returns 404, the own id ${ownId}.`,
        async (cast) => {
          const { id: own, send } = await cast.sharedUser('flo');
          for (const id of ['0', 'x', '', '9007199254740992'])
            expectProblems(await send(400, `${method} ${path}?${name}=${id}`), `query.${name}`);
          expectProblems(await send(400, `${method} ${path}`), `query.${name}`);
          await send(404, `${method} ${path}?${name}=${NOBODY}`);
          await send(ownId, `${method} ${path}?${name}=${own}`);
        },
      ),
    ),

    pairRule(
      'relationships.create.is-a-request',
      'POST /create_relationship makes the same transition as POST /friends/request: it never makes two users friends without the other’s consent.',
      async (pair) => {
        await pair.one.send(200, `POST /create_relationship?me=${pair.one.id}&them=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
        await pair.other.send(409, `POST /create_relationship?me=${pair.other.id}&them=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'asked');
        await pair.other.send(200, `POST /friends/accept?from=${pair.one.id}`);
        await tiesAre(pair, 'friends', 'friends');
      },
    ),

    pairRule(
      'relationships.create.conditions',
      'POST /create_relationship returns 409 for friends and for an existing request, and 404 for an unknown user.',
      async ({ one, other }) => {
        const path = `POST /create_relationship?me=${one.id}&them=`;
        await one.send(404, `${path}${NOBODY}`);
        await one.send(200, `POST /friends/request?to=${other.id}`);
        await one.send(409, `${path}${other.id}`);
        await other.send(200, `POST /friends/accept?from=${one.id}`);
        await one.send(409, `${path}${other.id}`);
      },
    ),

    pairRule(
      'relationships.create.me',
      'POST /create_relationship returns 403 if me is not the authenticated user: after the ids are valid, before it is known whether they exist, with the same body for all of them.',
      async ({ one, other }) => {
        const path = 'POST /create_relationship?';
        const refused = [];
        for (const [me, them] of [
          [other.id, NOBODY],
          [other.id, one.id],
          [other.id, other.id],
          [NOBODY, other.id],
        ])
          refused.push(await one.send(403, `${path}me=${me}&them=${them}`));
        for (const answer of refused) expectEqual(answer, 'the body', answer.body, refused[0]?.body);
        expectProblems(await one.send(400, `${path}me=${other.id}&them=0`), 'query.them');
        expectProblems(await one.send(400, `${path}me=${other.id}&them=${one.id}&kind=x`), 'query.kind');
        await one.send(400, `${path}me=${other.id}&them=${one.id}`, { json: { them: one.id } });
        await tiesAre({ one, other }, 'nothing', 'nothing');
      },
    ),

    rule(
      'relationships.create.query',
      'POST /create_relationship requires me and them; a request to oneself returns 400.',
      async (cast) => {
        const { id, send } = await cast.sharedUser('flo');
        const path = 'POST /create_relationship';
        expectProblems(await send(400, path), 'query.me', 'query.them');
        expectProblems(await send(400, `${path}?me=${id}`), 'query.them');
        expectProblems(await send(400, `${path}?them=${NOBODY}`), 'query.me');
        expectProblems(await send(400, `${path}?me=${id}&them=${id}`), 'query.them');
      },
    ),
  ],
};
