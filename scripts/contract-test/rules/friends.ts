import type { Asker, Cast } from '../cast.js';
import type { Answer } from '../client.js';
import { fieldsOf, problems, rule, type Subject, same, want } from '../rule.js';
import { befriend, part, publish, seclusion } from '../scenes.js';

const STATES = 'Friendship between two users';
const NOBODY = 9007199254740991;

/** Two people with nothing between them. */
async function strangers(cast: Cast) {
  const [one, other] = [await cast.person('flo'), await cast.person('gus')];
  await part(one, other);
  return { one, other };
}

const has = ({ body }: Answer, id: number) => body.some((entry: { id: number }) => entry.id === id);

/** What each of the two sees of the other: whether they are friends, and whether the other has asked. */
async function tie({ ask }: Asker, other: number): Promise<string> {
  const friends = has(await ask(200, 'GET /friends'), other);
  const asked = has(await ask(200, 'GET /friends/requests'), other);
  return friends ? (asked ? 'both' : 'friends') : asked ? 'asked' : 'nothing';
}

async function tiesAre({ one, other }: Awaited<ReturnType<typeof strangers>>, ...wanted: [string, string]) {
  const found = [await tie(one, other.id), await tie(other, one.id)];
  same(await one.ask(200, 'GET /friends'), 'what the two see of each other', found, wanted);
}

export const friends: Subject = {
  name: 'Friends',
  rules: [
    rule(STATES, 'no relation, POST /friends/request: request pending', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'asked');
    }),

    rule(STATES, 'request pending, POST /friends/accept: friends, in both directions', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(200, `POST /friends/accept?from=${pair.one.id}`);
      await tiesAre(pair, 'friends', 'friends');
    }),

    rule(STATES, 'request pending, POST /friends/decline: no relation, request removed', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(200, `POST /friends/decline?from=${pair.one.id}`);
      await tiesAre(pair, 'nothing', 'nothing');
      await pair.other.ask(404, `POST /friends/accept?from=${pair.one.id}`);
    }),

    rule(STATES, 'request pending, POST /friends/cancel: no relation, request removed', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.ask(200, `POST /friends/cancel?to=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'nothing');
      await pair.other.ask(404, `POST /friends/accept?from=${pair.one.id}`);
    }),

    rule(STATES, 'friends, DELETE /friends/remove: no relation, by either of the two', async (cast) => {
      for (const side of ['one', 'other'] as const) {
        const pair = await strangers(cast);
        await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.ask(200, `POST /friends/accept?from=${pair.one.id}`);
        const target = side === 'one' ? pair.other : pair.one;
        await pair[side].ask(200, `DELETE /friends/remove?id=${target.id}`);
        await tiesAre(pair, 'nothing', 'nothing');
      }
    }),

    rule('Friends, POST /friends/request', '409 if a request exists', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.ask(409, `POST /friends/request?to=${pair.other.id}`);
    }),

    rule(
      'Status codes',
      'a friend request to someone who has already requested the caller: 409, and nobody is a friend',
      async (cast) => {
        const pair = await strangers(cast);
        await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
        await pair.other.ask(409, `POST /friends/request?to=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    rule('Friends, POST /friends/request', '409 if already friends', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(200, `POST /friends/accept?from=${pair.one.id}`);
      await pair.one.ask(409, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(409, `POST /friends/request?to=${pair.one.id}`);
    }),

    rule('Friends, POST /friends/request', '404 if the user is not found', async (cast) => {
      await (await strangers(cast)).one.ask(404, `POST /friends/request?to=${NOBODY}`);
    }),

    rule('Status codes', 'a request to oneself: 400', async (cast) => {
      const { one } = await strangers(cast);
      problems(await one.ask(400, `POST /friends/request?to=${one.id}`), 'query.to');
    }),

    rule('Friends, POST /friends/accept', '404 if no pending request from that user', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(404, `POST /friends/accept?from=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'nothing');
    }),

    rule('Friends, POST /friends/accept', 'the one who has asked cannot accept', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.ask(404, `POST /friends/accept?from=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'asked');
    }),

    rule('Friends, POST /friends/decline', '404 if no pending request from that user', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(404, `POST /friends/decline?from=${pair.other.id}`);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.ask(404, `POST /friends/decline?from=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'asked');
    }),

    rule('Friends, POST /friends/cancel', '404 if no outgoing request', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(404, `POST /friends/cancel?to=${pair.other.id}`);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(404, `POST /friends/cancel?to=${pair.one.id}`);
      await tiesAre(pair, 'nothing', 'asked');
    }),

    rule('Friends, DELETE /friends/remove', '404 if not a friend', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(404, `DELETE /friends/remove?id=${pair.other.id}`);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.one.ask(404, `DELETE /friends/remove?id=${pair.other.id}`);
      await tiesAre(pair, 'nothing', 'asked');
    }),

    rule(STATES, 'friends: decline, cancel and accept find no request', async (cast) => {
      const pair = await strangers(cast);
      await pair.one.ask(200, `POST /friends/request?to=${pair.other.id}`);
      await pair.other.ask(200, `POST /friends/accept?from=${pair.one.id}`);
      await pair.other.ask(404, `POST /friends/accept?from=${pair.one.id}`);
      await pair.other.ask(404, `POST /friends/decline?from=${pair.one.id}`);
      await pair.one.ask(404, `POST /friends/cancel?to=${pair.other.id}`);
      await tiesAre(pair, 'friends', 'friends');
    }),

    rule('Friends, GET /friends', '200 list of {id, name, username, profile_link, private}', async (cast) => {
      const { friend, owner, picture } = await seclusion(cast);
      const answer = await friend.ask(200, 'GET /friends');
      const { id, name, username } = owner;
      const entry = answer.body.find((one: { id: number }) => one.id === id);
      same(answer, 'the entry', entry, { id, name, username, profile_link: picture, private: true });
    }),

    rule('Friends, GET /friends/requests', '200 pending incoming requests, not the outgoing ones', async (cast) => {
      const { owner, requester, requested } = await seclusion(cast);
      const answer = await owner.ask(200, 'GET /friends/requests');
      want(
        has(answer, requester.id) && !has(answer, requested.id),
        'whoever has asked the caller, and nobody else',
        answer,
      );
    }),

    rule(
      'Representation, incoming friend request',
      'the full profile if public, {id, name, username} if private',
      async (cast) => {
        const { owner, requester, requested } = await seclusion(cast);
        for (const [answer, who, fields] of [
          [await owner.ask(200, 'GET /friends/requests'), requester.id, 'id name private profile_link username'],
          [await requested.ask(200, 'GET /friends/requests'), owner.id, 'id name username'],
        ] as const) {
          same(answer, 'the fields', fieldsOf(answer.body.find((entry: { id: number }) => entry.id === who)), fields);
        }
      },
    ),

    rule(
      'Visibility rules 3',
      'A friendship that begins shows what is private at once, one that ends hides it',
      async (cast) => {
        const { one, other } = await strangers(cast);
        await one.ask(200, 'PUT /profiles/me', { form: { private: 'true' } });
        const { id } = await publish(one);
        await other.ask(404, `GET /posts/${id}`);
        await befriend(other, one);
        await other.ask(200, `GET /posts/${id}`);
        await other.ask(200, `DELETE /friends/remove?id=${one.id}`);
        await other.ask(404, `GET /posts/${id}`);
        await one.ask(200, 'PUT /profiles/me', { form: { private: 'false' } });
      },
    ),

    ...[
      ['POST', '/friends/request', 'to'],
      ['POST', '/friends/accept', 'from'],
      ['POST', '/friends/decline', 'from'],
      ['POST', '/friends/cancel', 'to'],
      ['DELETE', '/friends/remove', 'id'],
    ].map(([method, path, name]) =>
      rule(`Friends, ${method} ${path}`, 'an id that is none is 400, one that names nobody 404', async (cast) => {
        const { one } = await strangers(cast);
        for (const id of ['0', 'x', '', '9007199254740992'])
          problems(await one.ask(400, `${method} ${path}?${name}=${id}`), `query.${name}`);
        problems(await one.ask(400, `${method} ${path}`), `query.${name}`);
        await one.ask(404, `${method} ${path}?${name}=${NOBODY}`);
      }),
    ),

    rule(
      'Relationship creation',
      'the same transition as a friend request: never friends without the other’s consent',
      async (cast) => {
        const pair = await strangers(cast);
        await pair.one.ask(200, `POST /create_relationship?me=${pair.one.id}&them=${pair.other.id}`);
        await tiesAre(pair, 'nothing', 'asked');
        await pair.other.ask(409, `POST /create_relationship?me=${pair.other.id}&them=${pair.one.id}`);
        await tiesAre(pair, 'nothing', 'asked');
      },
    ),

    rule(
      'Relationship creation',
      'the same conditions: 409 for friends and for a request that exists, 404 for nobody',
      async (cast) => {
        const { one, other } = await strangers(cast);
        const path = `POST /create_relationship?me=${one.id}&them=`;
        await one.ask(404, `${path}${NOBODY}`);
        await one.ask(200, `POST /friends/request?to=${other.id}`);
        await one.ask(409, `${path}${other.id}`);
        await other.ask(200, `POST /friends/accept?from=${one.id}`);
        await one.ask(409, `${path}${other.id}`);
      },
    ),

    rule(
      'Relationship creation',
      'me must equal the token user id: else 403, after shape and before whether them exists',
      async (cast) => {
        const { one, other } = await strangers(cast);
        await one.ask(403, `POST /create_relationship?me=${other.id}&them=${NOBODY}`);
        problems(await one.ask(400, `POST /create_relationship?me=${other.id}&them=0`), 'query.them');
      },
    ),

    rule('Relationship creation', 'query me, them only; a request to oneself is 400', async (cast) => {
      const { one } = await strangers(cast);
      problems(await one.ask(400, 'POST /create_relationship'), 'query.me', 'query.them');
      problems(await one.ask(400, `POST /create_relationship?me=${one.id}&them=${one.id}`), 'query.them');
    }),
  ],
};
