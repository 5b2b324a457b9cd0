import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat } from '../expect.js';
import {
  claimsOf,
  clearRelation,
  idsOf,
  makeFriends,
  publish,
  textForm,
  UNUSED_ID,
  visibilityFixture,
} from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

/** The number of times that each race is run, because a single run may miss a failure. */
const ROUNDS_PER_RACE = 2;

interface Pair {
  one: User;
  other: User;
}

const getPair = (users: TestUsers): Promise<Pair> =>
  users.shared('racing pair', async () => {
    const [one, other] = (await Promise.all([users.register(), users.register()])) as [User, User];
    return { one, other };
  });

type Request = [user: User, line: string];

/** Sends requests concurrently, and checks that each response has one of the statuses. */
async function race(wanted: number[], ...requests: Request[]): Promise<CheckedResponse[]> {
  return Promise.all(requests.map(([{ send }, line]) => send(wanted, line)));
}

const successCount = (responses: CheckedResponse[]) => responses.filter(({ status }) => status === 200).length;

function expectOneSuccess(responses: CheckedResponse[], subject: string): void {
  expectThat(
    successCount(responses) === 1,
    `${subject} to succeed once, not ${successCount(responses)} times`,
    responses[0],
  );
}

/** Returns the ids that a user's list at this path contains. */
const idsAt = async ({ send }: User, path: string): Promise<number[]> => idsOf((await send(200, `GET ${path}`)).body);

type Relation = 'none' | 'requested by one' | 'requested by other' | 'friends';

/** Returns the relation between the two users, which both must see in the same way. */
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

/** Races between requests of two users, each from the relation that `prepare` creates. */
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

const relationRules = RELATION_RACES.map(([id, description, prepare, requestsOf, loserStatus]) =>
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

async function likesOf({ send }: User, id: number): Promise<[number, boolean]> {
  const { like_count, liked_by_me } = (await send(200, `GET /posts/${id}`)).body;
  return [like_count, liked_by_me];
}

const sortedStatuses = (responses: CheckedResponse[]) => responses.map(({ status }) => status).sort();

export const concurrency: Subject = {
  name: 'Concurrency',
  rules: [
    ...relationRules,

    rule(
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
    ),

    rule(
      'concurrency.likes.same-user',
      'Concurrent likes of a post by the same user all return 200 and count once. Concurrent unlikes by the same user all return 200 and remove the like.',
      async (users) => {
        const { one, other } = await getPair(users);
        const { id } = await publish(one);
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const likes = await race(
            [200],
            ...Array.from({ length: 4 }, (): Request => [other, `POST /posts/like?id=${id}`]),
          );
          expectEqual(likes[0] as CheckedResponse, 'the likes', await likesOf(other, id), [1, true]);
          const unlikes = await race(
            [200],
            ...Array.from({ length: 4 }, (): Request => [other, `DELETE /posts/like?id=${id}`]),
          );
          expectEqual(unlikes[0] as CheckedResponse, 'the likes', await likesOf(other, id), [0, false]);
        }
      },
    ),

    rule(
      'concurrency.likes.users',
      'Concurrent likes of a post by several users all count. After a concurrent like and unlike by the same user, like_count and liked_by_me agree.',
      async (users) => {
        const { one, other } = await getPair(users);
        const third = await users.sharedUser('ada');
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const { id } = await publish(one);
          const like = `POST /posts/like?id=${id}`;
          const responses = await race([200], [one, like], [other, like], [third, like]);
          expectEqual(responses[0] as CheckedResponse, 'the likes', await likesOf(one, id), [3, true]);
          await race([200], [other, like], [other, `DELETE /posts/like?id=${id}`]);
          const [count, mine] = await likesOf(other, id);
          expectEqual(responses[0] as CheckedResponse, 'the likes', count, mine ? 3 : 2);
        }
      },
    ),

    rule(
      'concurrency.likes.posts',
      'Concurrent likes and unlikes of several posts by several users each take effect, or return 404 if the user cannot see the post.',
      async (users) => {
        const { owned, viewers } = await visibilityFixture(users);
        const owner = owned.public.owner;
        const open = [await publish(owner), await publish(owner)];
        const hidden = await publish(owned.private.owner);
        const participants = [viewers.friend, viewers.stranger, viewers.requester];
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const likes = (user: number, post: number) => (user + post + round) % 2 === 0;
          const method = (user: number, post: number) => (likes(user, post) ? 'POST' : 'DELETE');
          await Promise.all(
            participants.flatMap(({ send }, user) => [
              send(user === 0 ? 200 : 404, `POST /posts/like?id=${hidden.id}`),
              send(404, `POST /posts/like?id=${UNUSED_ID}`),
              ...open.map(({ id }, post) => send(200, `${method(user, post)} /posts/like?id=${id}`)),
            ]),
          );
          for (const [post, { id }] of open.entries()) {
            const wanted = participants.map((_, user) => likes(user, post));
            const count = wanted.filter(Boolean).length;
            for (const [user, mine] of wanted.entries()) {
              const reader = participants[user] as User;
              expectEqual(await reader.send(200, `GET /posts/${id}`), 'the likes', await likesOf(reader, id), [
                count,
                mine,
              ]);
            }
          }
        }
        const response = await viewers.friend.send(200, `GET /posts/${hidden.id}`);
        expectEqual(response, 'the likes of the hidden post', await likesOf(viewers.friend, hidden.id), [1, true]);
      },
    ),

    rule(
      'concurrency.like-delete',
      'A like of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
      async (users) => {
        const { one, other } = await getPair(users);
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const { id } = await publish(one);
          await Promise.all([
            one.send(200, `DELETE /posts/delete?id=${id}`),
            other.send([200, 404], `POST /posts/like?id=${id}`),
            other.send([200, 404], `GET /posts/${id}`),
          ]);
          await other.send(404, `GET /posts/${id}`);
          await other.send(404, `POST /posts/like?id=${id}`);
        }
      },
    ),

    rule(
      'concurrency.edit-delete',
      'An edit of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
      async (users) => {
        const { one } = await getPair(users);
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const { id } = await publish(one);
          await Promise.all([
            one.send([200, 404], `PUT /posts/edit?id=${id}`, textForm({ title: 'Edited' })),
            one.send(200, `DELETE /posts/delete?id=${id}`),
          ]);
          for (const request of [`GET /posts/${id}`, `DELETE /posts/delete?id=${id}`]) await one.send(404, request);
          await one.send(404, `PUT /posts/edit?id=${id}`, textForm({ title: 'Edited' }));
        }
      },
    ),

    rule('concurrency.edit-edit', 'Concurrent edits of different fields of a post both take effect.', async (users) => {
      const { one } = await getPair(users);
      for (let round = 0; round < ROUNDS_PER_RACE; round++) {
        const { id } = await publish(one);
        const request = `PUT /posts/edit?id=${id}`;
        await Promise.all([
          one.send(200, request, textForm({ title: 'Title by one' })),
          one.send(200, request, textForm({ text: 'Text by another' })),
        ]);
        const response = await one.send(200, `GET /posts/${id}`);
        expectEqual(
          response,
          'title and text',
          [response.body.title, response.body.text],
          ['Title by one', 'Text by another'],
        );
      }
    }),

    rule(
      'concurrency.profile',
      'Concurrent updates of different fields of a profile all take effect.',
      async (users) => {
        const user = await users.register();
        const { username } = users.newUser();
        await Promise.all([
          user.send(200, 'PUT /profiles/me', textForm({ name: 'Name by one' })),
          user.send(200, 'PUT /profiles/me', textForm({ username })),
          user.send(200, 'PUT /profiles/me', textForm({ private: 'true' })),
        ]);
        const response = await user.send(200, 'GET /profiles/me');
        const { name, private: isPrivate } = response.body;
        expectEqual(response, 'the fields', [name, response.body.username, isPrivate], ['Name by one', username, true]);
      },
    ),

    rule(
      'concurrency.delete-twice',
      'If a post is deleted several times at the same time, one deletion succeeds and the others return 404.',
      async (users) => {
        const { one } = await getPair(users);
        for (let round = 0; round < ROUNDS_PER_RACE; round++) {
          const { id } = await publish(one);
          expectOneSuccess(
            await race([200, 404], ...Array.from({ length: 3 }, (): Request => [one, `DELETE /posts/delete?id=${id}`])),
            'the deletion',
          );
        }
      },
    ),

    ...(['username', 'email'] as const).map((field) =>
      rule(
        `concurrency.register.${field}`,
        `If registrations with the same ${field} are sent at the same time, one succeeds and the others return 409.`,
        async (users) => {
          const registrations = Array.from({ length: 3 }, () => users.newUser());
          const value = registrations[0]?.[field];
          const responses = await Promise.all(
            registrations.map((registration) =>
              users.anonymous.send([201, 409], 'POST /auth/register', { json: { ...registration, [field]: value } }),
            ),
          );
          expectEqual(responses[0] as CheckedResponse, 'the statuses', sortedStatuses(responses), [201, 409, 409]);
        },
      ),
    ),

    ...(['username', 'email'] as const).map((field) =>
      rule(
        `concurrency.update.${field}`,
        `If two users change to the same ${field} at the same time, one succeeds and the other returns 409.`,
        async (users) => {
          const { one, other } = await getPair(users);
          const form = { [field]: users.newUser()[field] };
          const responses = await Promise.all(
            [one, other].map(({ send }) => send([200, 409], 'PUT /profiles/me', { form })),
          );
          expectEqual(responses[0] as CheckedResponse, 'the statuses', sortedStatuses(responses), [200, 409]);
          const accounts = await Promise.all([one, other].map(({ send }) => send(200, 'GET /auth/me')));
          expectEqual(
            accounts[0] as CheckedResponse,
            `the number of accounts with the ${field}`,
            accounts.filter(({ body }) => body[field] === form[field]).length,
            1,
          );
        },
      ),
    ),

    rule(
      'concurrency.password-twice',
      'If two password changes with the same current password are sent at the same time, one succeeds and the other returns 401. Only the password of the successful change is valid.',
      async (users) => {
        const user = await users.register();
        const passwords = [users.newUser().password, users.newUser().password];
        const responses = await Promise.all(
          passwords.map((password) =>
            user.send([200, 401], 'PUT /profiles/me', { form: { password, current_password: user.password } }),
          ),
        );
        expectOneSuccess(responses, 'the password change');
        for (const [index, password] of [...passwords, user.password].entries()) {
          const wanted = responses[index]?.status ?? 401;
          await users.anonymous.send(wanted, 'POST /auth/login', { json: { email: user.email, password } });
        }
      },
    ),

    rule(
      'concurrency.password-login',
      'A login with the old password during a password change leaves no valid session after the change.',
      async (users) => {
        const user = await users.register();
        const { email, password: current_password } = user;
        const json = { email, password: current_password };
        const { password } = users.newUser();
        const [, ...logins] = await Promise.all([
          user.send(200, 'PUT /profiles/me', { form: { password, current_password } }),
          ...Array.from({ length: 4 }, () => users.anonymous.send([200, 401], 'POST /auth/login', { json })),
        ]);
        for (const { body } of logins) await users.anonymous.send(401, 'GET /auth/me', { token: body.token });
        const { token } = (await users.login({ email, password })).body;
        const response = await users.anonymous.send(200, 'GET /auth/sessions', { token });
        expectEqual(response, 'the number of sessions', response.body.length, 1);
      },
    ),

    rule(
      'concurrency.sessions',
      'If a session is deleted several times at the same time, one deletion succeeds and the others return 404. Concurrent logouts of a session each return 200 or 401.',
      async (users) => {
        const user = await users.register();
        const token: string = (await users.login(user)).body.token;
        const session = claimsOf(token).jti;
        const request: Request = [user, `DELETE /auth/sessions/${session}`];
        expectOneSuccess(await race([200, 404], request, request, request), 'the deletion');
        await users.anonymous.send(401, 'GET /auth/me', { token });
        const logout: Request = [user, 'POST /auth/logout'];
        const responses = await race([200, 401], logout, logout);
        expectThat(successCount(responses) >= 1, 'a logout that succeeds', responses[0]);
        await user.send(401, 'GET /auth/me');
      },
    ),

    rule(
      'concurrency.account',
      'If an account is deleted several times at the same time, one deletion succeeds and the others return 401. Posts and sessions created meanwhile are deleted with the account.',
      async (users) => {
        const user = await users.register();
        const reader = await users.sharedUser('ada');
        const { email, password } = user;
        const remove = () => user.send([200, 401], 'DELETE /profiles/me', { json: { password } });
        const create = () =>
          user.send([201, 401], 'POST /posts/create', textForm({ title: 'A title', text: 'A text' }));
        const login = () => users.anonymous.send([200, 401], 'POST /auth/login', { json: { email, password } });
        const [first, second, post, session] = await Promise.all([remove(), remove(), create(), login()]);
        expectEqual(first, 'the statuses', sortedStatuses([first, second]), [200, 401]);
        if (post.status === 201) await reader.send(404, `GET /posts/${post.body.id}`);
        await users.anonymous.send(401, 'GET /auth/me', { token: session.body.token });
        await reader.send(404, `GET /profiles/${user.id}`);
      },
    ),
  ],
};
