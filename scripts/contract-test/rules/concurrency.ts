import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat } from '../expect.js';
import { audience, befriend, NO_ID, part, publish, textForm } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

/** How often a race is run: once may miss it. */
const ROUNDS = 2;

interface Pair {
  one: User;
  other: User;
}

const pairOf = (cast: TestUsers): Promise<Pair> =>
  cast.once('racing pair', async () => {
    const [one, other] = (await Promise.all([cast.register(), cast.register()])) as [User, User];
    return { one, other };
  });

type Request = [user: User, line: string];

/** Sends requests at the same time; a server error is never an outcome. */
async function race(wanted: number[], ...requests: Request[]): Promise<CheckedResponse[]> {
  return Promise.all(requests.map(([{ send }, line]) => send(wanted, line)));
}

const succeeded = (answers: CheckedResponse[]) => answers.filter(({ status }) => status === 200).length;

function wantOnce(answers: CheckedResponse[], what: string): void {
  expectThat(succeeded(answers) === 1, `${what} to succeed once, not ${succeeded(answers)} times`, answers[0]);
}

const idsAt = async ({ send }: User, path: string): Promise<number[]> =>
  (await send(200, `GET ${path}`)).body.map(({ id }: { id: number }) => id);

type Relation = 'none' | 'requested by one' | 'requested by other' | 'friends';

/** The relation between the two, which both of them must see in the same way. */
async function relationOf({ one, other }: Pair): Promise<Relation> {
  const [friends, friendsToo] = [await idsAt(one, '/friends'), await idsAt(other, '/friends')];
  const [toOne, toOther] = [await idsAt(one, '/friends/requests'), await idsAt(other, '/friends/requests')];
  const seen = [
    friends.includes(other.id),
    friendsToo.includes(one.id),
    toOne.includes(other.id),
    toOther.includes(one.id),
  ];
  const answer = await one.send(200, 'GET /friends');
  expectThat(seen[0] === seen[1], 'a friendship that both have, or neither', answer);
  expectThat(seen.slice(1).filter(Boolean).length <= 1, 'one relation at a time', answer);
  if (seen[0]) return 'friends';
  return seen[3] ? 'requested by one' : seen[2] ? 'requested by other' : 'none';
}

/** The relation that this request leads to if it succeeds. */
function relationAfter([user, line]: Request, { one }: Pair): Relation {
  if (line.includes('/accept')) return 'friends';
  if (!/friends\/request|create_relationship/.test(line)) return 'none';
  return user === one ? 'requested by one' : 'requested by other';
}

/** Races of the requests of two users, from a given relation. */
const RELATIONS: [
  id: string,
  says: string,
  prepare: (pair: Pair) => Promise<unknown>,
  requests: (pair: Pair) => Request[],
  losers: number,
][] = [
  [
    'request-crossed',
    'Of two friend requests that cross each other one succeeds, the other is 409, and nobody is a friend',
    async () => undefined,
    ({ one, other }) => [
      [one, `POST /friends/request?to=${other.id}`],
      [other, `POST /friends/request?to=${one.id}`],
    ],
    409,
  ],
  [
    'relationship-crossed',
    'Of a friend request and POST /create_relationship that cross each other one succeeds, the others are 409',
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
    'Of equal friend requests at the same time one succeeds, the others are 409',
    async () => undefined,
    ({ one, other }) => Array.from({ length: 3 }, (): Request => [one, `POST /friends/request?to=${other.id}`]),
    409,
  ],
  [
    'accept-twice',
    'Of equal acceptances at the same time one succeeds, the others are 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => Array.from({ length: 3 }, (): Request => [other, `POST /friends/accept?from=${one.id}`]),
    404,
  ],
  [
    'accept-decline',
    'Of an acceptance and a decline at the same time one succeeds, the other is 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/accept?from=${one.id}`],
      [other, `POST /friends/decline?from=${one.id}`],
    ],
    404,
  ],
  [
    'accept-cancel',
    'Of an acceptance and the cancellation at the same time one succeeds, the other is 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/accept?from=${one.id}`],
      [one, `POST /friends/cancel?to=${other.id}`],
    ],
    404,
  ],
  [
    'decline-cancel',
    'Of a decline and the cancellation at the same time one succeeds, the other is 404',
    ({ one, other }) => one.send(200, `POST /friends/request?to=${other.id}`),
    ({ one, other }) => [
      [other, `POST /friends/decline?from=${one.id}`],
      [one, `POST /friends/cancel?to=${other.id}`],
    ],
    404,
  ],
  [
    'remove-twice',
    'Of removals by both friends at the same time one succeeds, the other is 404',
    ({ one, other }) => befriend(one, other),
    ({ one, other }) => [
      [one, `DELETE /friends/remove?id=${other.id}`],
      [other, `DELETE /friends/remove?id=${one.id}`],
    ],
    404,
  ],
];

const relationRules = RELATIONS.map(([id, says, prepare, requestsOf, losers]) =>
  rule(`concurrency.friends.${id}`, `${says}. The relation is the one that the first leads to.`, async (cast) => {
    const pair = await pairOf(cast);
    for (let round = 0; round < ROUNDS; round++) {
      await part(pair.one, pair.other);
      await prepare(pair);
      const requests = requestsOf(pair);
      if (round % 2 === 1) requests.reverse();
      const answers = await race([200, losers], ...requests);
      wantOnce(answers, 'the requests');
      const winner = answers.findIndex(({ status }) => status === 200);
      const wanted = relationAfter(requests[winner] as Request, pair);
      expectEqual(answers[winner] as CheckedResponse, 'the relation', await relationOf(pair), wanted);
    }
    await part(pair.one, pair.other);
  }),
);

async function likesOf({ send }: User, id: number): Promise<[number, boolean]> {
  const { like_count, liked_by_me } = (await send(200, `GET /posts/${id}`)).body;
  return [like_count, liked_by_me];
}

const newUsers = (cast: TestUsers, count: number) => Promise.all(Array.from({ length: count }, () => cast.newUser()));

const statuses = (answers: CheckedResponse[]) => answers.map(({ status }) => status).sort();

export const concurrency: Subject = {
  name: 'Concurrency',
  rules: [
    ...relationRules,

    rule(
      'concurrency.friends.users',
      'Friend requests of several users to one user at the same time all succeed and are listed by id. So do their acceptances.',
      async (cast) => {
        const { one, other } = await pairOf(cast);
        const users = [other, await cast.sharedUser('ada'), await cast.sharedUser('ben'), await cast.sharedUser('sam')];
        const ids = users.map(({ id }) => id).sort((first, second) => first - second);
        const sent = await race([200], ...users.map((user): Request => [user, `POST /friends/request?to=${one.id}`]));
        expectEqual(sent[0] as CheckedResponse, 'the requests', await idsAt(one, '/friends/requests'), ids);
        const accepted = await race([200], ...ids.map((id): Request => [one, `POST /friends/accept?from=${id}`]));
        expectEqual(accepted[0] as CheckedResponse, 'the friends', await idsAt(one, '/friends'), ids);
        expectEqual(accepted[0] as CheckedResponse, 'the requests', await idsAt(one, '/friends/requests'), []);
        for (const user of users) await part(one, user);
      },
    ),

    rule(
      'concurrency.likes.same-user',
      'Equal likes at the same time all return 200 and count once. So do equal unlikes.',
      async (cast) => {
        const { one, other } = await pairOf(cast);
        const { id } = await publish(one);
        for (let round = 0; round < ROUNDS; round++) {
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
      'Likes of several users at the same time all count; a like and an unlike of the same user leave one of the two.',
      async (cast) => {
        const { one, other } = await pairOf(cast);
        const third = await cast.sharedUser('ada');
        for (let round = 0; round < ROUNDS; round++) {
          const { id } = await publish(one);
          const like = `POST /posts/like?id=${id}`;
          const answers = await race([200], [one, like], [other, like], [third, like]);
          expectEqual(answers[0] as CheckedResponse, 'the likes', await likesOf(one, id), [3, true]);
          await race([200], [other, like], [other, `DELETE /posts/like?id=${id}`]);
          const [count, mine] = await likesOf(other, id);
          expectEqual(answers[0] as CheckedResponse, 'the likes', count, mine ? 3 : 2);
        }
      },
    ),

    rule(
      'concurrency.likes.posts',
      'Likes and unlikes of several posts by several users at the same time each have their own effect, and 404 if the user cannot see the post.',
      async (cast) => {
        const { owned, viewers } = await audience(cast);
        const owner = owned.public.owner;
        const open = [await publish(owner), await publish(owner)];
        const hidden = await publish(owned.private.owner);
        const users = [viewers.friend, viewers.stranger, viewers.requester];
        for (let round = 0; round < ROUNDS; round++) {
          const likes = (user: number, post: number) => (user + post + round) % 2 === 0;
          const method = (user: number, post: number) => (likes(user, post) ? 'POST' : 'DELETE');
          await Promise.all(
            users.flatMap(({ send }, user) => [
              send(user === 0 ? 200 : 404, `POST /posts/like?id=${hidden.id}`),
              send(404, `POST /posts/like?id=${NO_ID}`),
              ...open.map(({ id }, post) => send(200, `${method(user, post)} /posts/like?id=${id}`)),
            ]),
          );
          for (const [post, { id }] of open.entries()) {
            const wanted = users.map((_, user) => likes(user, post));
            const count = wanted.filter(Boolean).length;
            for (const [user, mine] of wanted.entries()) {
              const reader = users[user] as User;
              expectEqual(await reader.send(200, `GET /posts/${id}`), 'the likes', await likesOf(reader, id), [
                count,
                mine,
              ]);
            }
          }
        }
        const answer = await viewers.friend.send(200, `GET /posts/${hidden.id}`);
        expectEqual(answer, 'the likes of the hidden post', await likesOf(viewers.friend, hidden.id), [1, true]);
      },
    ),

    rule(
      'concurrency.like-delete',
      'A like of a post that is deleted at the same time returns 200 or 404, and the post is deleted.',
      async (cast) => {
        const { one, other } = await pairOf(cast);
        for (let round = 0; round < ROUNDS; round++) {
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
      async (cast) => {
        const { one } = await pairOf(cast);
        for (let round = 0; round < ROUNDS; round++) {
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

    rule('concurrency.edit-edit', 'Edits of different fields of a post at the same time both stay.', async (cast) => {
      const { one } = await pairOf(cast);
      for (let round = 0; round < ROUNDS; round++) {
        const { id } = await publish(one);
        const request = `PUT /posts/edit?id=${id}`;
        await Promise.all([
          one.send(200, request, textForm({ title: 'Title by one' })),
          one.send(200, request, textForm({ text: 'Text by another' })),
        ]);
        const answer = await one.send(200, `GET /posts/${id}`);
        expectEqual(
          answer,
          'title and text',
          [answer.body.title, answer.body.text],
          ['Title by one', 'Text by another'],
        );
      }
    }),

    rule('concurrency.profile', 'Updates of different fields of a profile at the same time all stay.', async (cast) => {
      const user = await cast.register();
      const { username } = cast.newUser();
      await Promise.all([
        user.send(200, 'PUT /profiles/me', textForm({ name: 'Name by one' })),
        user.send(200, 'PUT /profiles/me', textForm({ username })),
        user.send(200, 'PUT /profiles/me', textForm({ private: 'true' })),
      ]);
      const answer = await user.send(200, 'GET /profiles/me');
      const { name, private: isPrivate } = answer.body;
      expectEqual(answer, 'the fields', [name, answer.body.username, isPrivate], ['Name by one', username, true]);
    }),

    rule(
      'concurrency.delete-twice',
      'Of equal deletions of a post at the same time one succeeds, the others are 404.',
      async (cast) => {
        const { one } = await pairOf(cast);
        for (let round = 0; round < ROUNDS; round++) {
          const { id } = await publish(one);
          wantOnce(
            await race([200, 404], ...Array.from({ length: 3 }, (): Request => [one, `DELETE /posts/delete?id=${id}`])),
            'the deletion',
          );
        }
      },
    ),

    ...(['username', 'email'] as const).map((field) =>
      rule(
        `concurrency.register.${field}`,
        `Of registrations with the same ${field} at the same time one succeeds, the others are 409.`,
        async (cast) => {
          const people = await newUsers(cast, 3);
          const value = people[0]?.[field];
          const answers = await Promise.all(
            people.map((person) =>
              cast.anonymous.send([201, 409], 'POST /auth/register', { json: { ...person, [field]: value } }),
            ),
          );
          expectEqual(answers[0] as CheckedResponse, 'the statuses', statuses(answers), [201, 409, 409]);
        },
      ),
    ),

    ...(['username', 'email'] as const).map((field) =>
      rule(
        `concurrency.update.${field}`,
        `Of two users who take the same ${field} at the same time one succeeds, the other is 409.`,
        async (cast) => {
          const { one, other } = await pairOf(cast);
          const form = { [field]: cast.newUser()[field] };
          const answers = await Promise.all(
            [one, other].map(({ send }) => send([200, 409], 'PUT /profiles/me', { form })),
          );
          expectEqual(answers[0] as CheckedResponse, 'the statuses', statuses(answers), [200, 409]);
          const taken = await Promise.all([one, other].map(({ send }) => send(200, 'GET /auth/me')));
          expectEqual(
            taken[0] as CheckedResponse,
            `how many have the ${field}`,
            taken.filter(({ body }) => body[field] === form[field]).length,
            1,
          );
        },
      ),
    ),

    rule(
      'concurrency.password-twice',
      'Of two password changes with the same current password at the same time one succeeds, the other is 401. Only the password of the first is valid.',
      async (cast) => {
        const user = await cast.register();
        const passwords = [cast.newUser().password, cast.newUser().password];
        const answers = await Promise.all(
          passwords.map((password) =>
            user.send([200, 401], 'PUT /profiles/me', { form: { password, current_password: user.password } }),
          ),
        );
        wantOnce(answers, 'the password change');
        for (const [index, password] of [...passwords, user.password].entries()) {
          const wanted = answers[index]?.status ?? 401;
          await cast.anonymous.send(wanted, 'POST /auth/login', { json: { email: user.email, password } });
        }
      },
    ),

    rule(
      'concurrency.password-login',
      'A session whose login with the old password crosses a password change ends with the change.',
      async (cast) => {
        const user = await cast.register();
        const { email, password: current_password } = user;
        const json = { email, password: current_password };
        const { password } = cast.newUser();
        const [, ...logins] = await Promise.all([
          user.send(200, 'PUT /profiles/me', { form: { password, current_password } }),
          ...Array.from({ length: 4 }, () => cast.anonymous.send([200, 401], 'POST /auth/login', { json })),
        ]);
        for (const { body } of logins) await cast.anonymous.send(401, 'GET /auth/me', { token: body.token });
        const { token } = (await cast.login({ email, password })).body;
        const answer = await cast.anonymous.send(200, 'GET /auth/sessions', { token });
        expectEqual(answer, 'how many sessions', answer.body.length, 1);
      },
    ),

    rule(
      'concurrency.sessions',
      'Equal deletions of a session at the same time: one succeeds, the others are 404. Equal logouts: each is 200 or 401.',
      async (cast) => {
        const user = await cast.register();
        const token: string = (await cast.login(user)).body.token;
        const session = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
        const request: Request = [user, `DELETE /auth/sessions/${session}`];
        wantOnce(await race([200, 404], request, request, request), 'the deletion');
        await cast.anonymous.send(401, 'GET /auth/me', { token });
        const logout: Request = [user, 'POST /auth/logout'];
        const answers = await race([200, 401], logout, logout);
        expectThat(succeeded(answers) >= 1, 'a logout that succeeds', answers[0]);
        await user.send(401, 'GET /auth/me');
      },
    ),

    rule(
      'concurrency.account',
      'Of equal account deletions at the same time one succeeds, the others are 401. What is created meanwhile does not outlive the account.',
      async (cast) => {
        const user = await cast.register();
        const reader = await cast.sharedUser('ada');
        const { email, password } = user;
        const remove = () => user.send([200, 401], 'DELETE /profiles/me', { json: { password } });
        const create = () =>
          user.send([201, 401], 'POST /posts/create', textForm({ title: 'A title', text: 'A text' }));
        const login = () => cast.anonymous.send([200, 401], 'POST /auth/login', { json: { email, password } });
        const [first, second, post, session] = await Promise.all([remove(), remove(), create(), login()]);
        expectEqual(first, 'the statuses', statuses([first, second]), [200, 401]);
        if (post.status === 201) await reader.send(404, `GET /posts/${post.body.id}`);
        await cast.anonymous.send(401, 'GET /auth/me', { token: session.body.token });
        await reader.send(404, `GET /profiles/${user.id}`);
      },
    ),
  ],
};
