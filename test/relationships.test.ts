import t from 'tap';
import { type Ask, befriend, type Person, problemsOf, startTestService } from './harness.js';

const service = await startTestService(t);

const UNKNOWN = 9007199254740991;

const relate = (caller: Person, me: number | string, them: number | string, ask?: Ask) =>
  caller.ask('POST', `/create_relationship?me=${me}&them=${them}`, ask);

const idsIn = async (person: Person, list: string): Promise<number[]> =>
  (await person.ask('GET', list)).body.map(({ id }: { id: number }) => id);
const friendsOf = (person: Person) => idsIn(person, '/friends');
const requestsTo = (person: Person) => idsIn(person, '/friends/requests');

/** Who has asked whom, and whether they are friends: Ada's requests, Bob's requests, Ada's friends, Bob's friends. */
const between = async (ada: Person, bob: Person) =>
  Promise.all([requestsTo(ada), requestsTo(bob), friendsOf(ada), friendsOf(bob)]);

t.test('it asks for friendship, as a friend request does, and takes the other’s consent', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const { status, body } = await relate(ada, ada.id, bob.id);
  t.strictSame([status, Object.keys(body)], [200, ['message']]);
  t.strictSame(await between(ada, bob), [[], [ada.id], [], []], 'a request, and no friendship');
  t.equal((await relate(bob, bob.id, ada.id)).status, 409, 'asking back is no consent');
  t.strictSame(await between(ada, bob), [[], [ada.id], [], []], 'and changes nothing');
  t.equal((await bob.ask('POST', `/friends/accept?from=${ada.id}`)).status, 200, 'it is accepted like any other');
  t.strictSame(await between(ada, bob), [[], [], [bob.id], [ada.id]]);
});

t.test('its conditions are those of a friend request, in every state and whoever was there first', async (t) => {
  const [first, second] = [await service.person(), await service.person()];
  for (const [ada, bob] of [
    [first, second],
    [second, first],
  ] as const) {
    const states: Record<string, [prepare: () => Promise<unknown>, status: number]> = {
      nothing: [async () => undefined, 200],
      'it has been asked already': [async () => undefined, 409],
      'cancelled since': [() => ada.ask('POST', `/friends/cancel?to=${bob.id}`), 200],
      'declined since': [() => bob.ask('POST', `/friends/decline?from=${ada.id}`), 200],
      'the other has asked': [
        async () => {
          await bob.ask('POST', `/friends/decline?from=${ada.id}`);
          await bob.ask('POST', `/friends/request?to=${ada.id}`);
        },
        409,
      ],
      friends: [() => ada.ask('POST', `/friends/accept?from=${bob.id}`), 409],
      'friends no more': [() => ada.ask('DELETE', `/friends/remove?id=${bob.id}`), 200],
    };
    for (const [state, [prepare, expected]] of Object.entries(states)) {
      await prepare();
      const before = await between(ada, bob);
      const { status } = await relate(ada, ada.id, bob.id);
      t.equal(status, expected, state);
      t.strictSame(await between(ada, bob), status === 200 ? [[], [ada.id], [], []] : before, `${state}: and then`);
    }
    await ada.ask('POST', `/friends/cancel?to=${bob.id}`);
  }
});

t.test('of two who ask each other at once, by either route, exactly one has asked', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all([
      relate(ada, ada.id, bob.id),
      round % 2 ? relate(bob, bob.id, ada.id) : bob.ask('POST', `/friends/request?to=${ada.id}`),
    ]);
    const [byAda, byBob] = answers.map(({ status }) => status);
    t.strictSame([byAda, byBob].sort(), [200, 409]);
    const expected = byAda === 200 ? [[], [ada.id], [], []] : [[bob.id], [], [], []];
    t.strictSame(await between(ada, bob), expected);
    await ada.ask('POST', `/friends/${byAda === 200 ? `cancel?to=${bob.id}` : `decline?from=${bob.id}`}`);
  }
});

t.test('of several answers that could apply the first is given: 400, 403, 404, 409', async (t) => {
  const [ada, bob, friend] = [await service.person(), await service.person(), await service.person()];
  await befriend(ada, friend);
  const cases: [what: string, query: string, status: number, problems: string[]][] = [
    ['nothing at all', '', 400, ['query.me', 'query.them']],
    ['without me', `them=${bob.id}`, 400, ['query.me']],
    ['without them', `me=${ada.id}`, 400, ['query.them']],
    ['an unknown parameter', `me=${ada.id}&them=${bob.id}&kind=friend`, 400, ['query.kind']],
    ['me twice', `me=${ada.id}&me=${ada.id}&them=${bob.id}`, 400, ['query.me']],
    ['to oneself', `me=${ada.id}&them=${ada.id}`, 400, ['query.them']],
    ['as another, to oneself', `me=${bob.id}&them=${ada.id}`, 400, ['query.them']],
    ['as another, with an id that is none', `me=${bob.id}&them=x`, 400, ['query.them']],
    ['as another, with an unknown parameter', `me=${bob.id}&them=${friend.id}&x=1`, 400, ['query.x']],
    ['as another', `me=${bob.id}&them=${friend.id}`, 403, []],
    ['as another, to the same', `me=${bob.id}&them=${bob.id}`, 403, []],
    ['as somebody unknown', `me=${UNKNOWN}&them=${bob.id}`, 403, []],
    ['as another, to somebody unknown', `me=${bob.id}&them=${UNKNOWN}`, 403, []],
    ['to somebody unknown', `me=${ada.id}&them=${UNKNOWN}`, 404, []],
    ['to a friend', `me=${ada.id}&them=${friend.id}`, 409, []],
  ];
  for (const [what, query, status, problems] of cases) {
    const answer = await ada.ask('POST', `/create_relationship?${query}`);
    t.strictSame([answer.status, problemsOf(answer).sort()], [status, problems], what);
  }
  const forbidden = await Promise.all([relate(ada, bob.id, friend.id), relate(ada, bob.id, UNKNOWN)]);
  t.strictSame(forbidden[0]?.body, forbidden[1]?.body, 'a 403 does not tell whether they exist');
  t.strictSame(await requestsTo(bob), []);
  t.strictSame(await requestsTo(friend), [], 'nobody has been asked in another’s name');
});

t.test('an id that is none is 400 and named', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const noIds = ['0', '-1', '1.5', '1e3', '007', '', '9007199254740992', '99999999999999999999', 'x', '%2B1', '%00'];
  for (const id of noIds) {
    const me = await relate(ada, id, bob.id);
    t.strictSame([me.status, ...new Set(problemsOf(me))], [400, 'query.me'], `me=${id}`);
    const them = await relate(ada, ada.id, id);
    t.strictSame([them.status, ...new Set(problemsOf(them))], [400, 'query.them'], `them=${id}`);
    const both = await relate(ada, id, id);
    t.strictSame([...new Set(problemsOf(both))].sort(), ['query.me', 'query.them'], `both ${id}`);
  }
  t.strictSame(await requestsTo(bob), []);
});

t.test('it takes no body but an empty object', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const refused: Record<string, Ask> = {
    'an object with a field': { json: { them: bob.id } },
    'an array': { json: [] },
    null: { json: null },
    text: { body: 'x', headers: { 'Content-Type': 'text/plain' } },
    'a form': { form: { them: String(bob.id) } },
  };
  for (const [what, ask] of Object.entries(refused)) {
    const answer = await relate(ada, ada.id, bob.id, ask);
    t.strictSame([answer.status, problemsOf(answer)[0]?.split('.')[0]], [400, 'body'], what);
    t.equal((await relate(ada, bob.id, bob.id, ask)).status, 400, `${what}: before the 403`);
  }
  t.strictSame(await requestsTo(bob), []);
  t.equal((await relate(ada, ada.id, bob.id, { json: {} })).status, 200);
});

t.test('it wants credentials before anything else', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  await ada.ask('POST', '/auth/logout');
  for (const ask of [service.ask, ada.ask]) {
    t.equal((await ask('POST', `/create_relationship?me=${ada.id}&them=${bob.id}`)).status, 401);
    t.equal((await ask('POST', '/create_relationship?me=x')).status, 401);
  }
  t.strictSame(await requestsTo(bob), []);
});
