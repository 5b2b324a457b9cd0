import { request } from 'node:http';
import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { storedTies } from './contents.js';
import { type Answer, type Ask, befriend, PASSWORD, type Person, problemsOf, startTestService } from './harness.js';

const service = await startTestService(t);
const { db } = service.stores;

/** What there is between Ada and Bob. */
type State = 'nothing' | 'Ada has asked' | 'Bob has asked' | 'friends';

const verbs = {
  request: ['POST', '/friends/request?to='],
  accept: ['POST', '/friends/accept?from='],
  decline: ['POST', '/friends/decline?from='],
  cancel: ['POST', '/friends/cancel?to='],
  remove: ['DELETE', '/friends/remove?id='],
} as const;

type Verb = keyof typeof verbs;

function take(verb: Verb, by: Person, other: { id: number | string }, ask?: Ask): Promise<Answer> {
  const [method, path] = verbs[verb];
  return by.ask(method, path + other.id, ask);
}

const idsIn = ({ body }: Answer) => body.map(({ id }: { id: number }) => id);
const friendsOf = async (person: Person): Promise<number[]> => idsIn(await person.ask('GET', '/friends'));
const requestsTo = async (person: Person): Promise<number[]> => idsIn(await person.ask('GET', '/friends/requests'));

/** What the lists of both say. */
async function stateOf(ada: Person, bob: Person): Promise<State | 'a contradiction'> {
  const facts = [
    (await requestsTo(bob)).includes(ada.id) && 'Ada has asked',
    (await requestsTo(ada)).includes(bob.id) && 'Bob has asked',
    (await friendsOf(ada)).includes(bob.id) && (await friendsOf(bob)).includes(ada.id) && 'friends',
  ].filter((fact): fact is State => fact !== false);
  const oneSided = (await friendsOf(ada)).includes(bob.id) !== (await friendsOf(bob)).includes(ada.id);
  if (oneSided || facts.length > 1) return 'a contradiction';
  return facts[0] ?? 'nothing';
}

/** Brings two people to a state, from whichever they are in. */
async function bring(state: State, ada: Person, bob: Person): Promise<void> {
  await take('remove', ada, bob);
  await take('cancel', ada, bob);
  await take('decline', ada, bob);
  if (state === 'Ada has asked') await take('request', ada, bob);
  if (state === 'Bob has asked') await take('request', bob, ada);
  if (state === 'friends') await befriend(ada, bob);
}

/** Every step that Ada can try, from every state: what she is answered, and the state it leads to. */
const transitions: Record<State, Record<Verb, [status: number, next: State]>> = {
  nothing: {
    request: [200, 'Ada has asked'],
    accept: [404, 'nothing'],
    decline: [404, 'nothing'],
    cancel: [404, 'nothing'],
    remove: [404, 'nothing'],
  },
  'Ada has asked': {
    request: [409, 'Ada has asked'],
    accept: [404, 'Ada has asked'],
    decline: [404, 'Ada has asked'],
    cancel: [200, 'nothing'],
    remove: [404, 'Ada has asked'],
  },
  'Bob has asked': {
    request: [409, 'Bob has asked'],
    accept: [200, 'friends'],
    decline: [200, 'nothing'],
    cancel: [404, 'Bob has asked'],
    remove: [404, 'Bob has asked'],
  },
  friends: {
    request: [409, 'friends'],
    accept: [404, 'friends'],
    decline: [404, 'friends'],
    cancel: [404, 'friends'],
    remove: [200, 'nothing'],
  },
};

t.test('every step from every state, whoever was there first', async (t) => {
  const [first, second] = [await service.person(), await service.person()];
  for (const [ada, bob, who] of [
    [first, second, 'the older account'],
    [second, first, 'the younger account'],
  ] as const) {
    for (const [state, steps] of Object.entries(transitions) as [State, (typeof transitions)[State]][]) {
      for (const [verb, [status, next]] of Object.entries(steps) as [Verb, [number, State]][]) {
        await bring(state, ada, bob);
        t.equal(await stateOf(ada, bob), state, `from: ${state}`);
        const answer = await take(verb, ada, bob);
        t.strictSame([answer.status, Object.keys(answer.body)], [status, ['message']], `${verb} by ${who}`);
        t.equal(await stateOf(ada, bob), next, `to: ${next}`);
      }
    }
  }
});

t.test('a private account is asked, and asks, like any other', async (t) => {
  const [ada, hermit] = [await service.person(), await service.person({ private: true })];
  t.equal((await take('request', ada, hermit)).status, 200);
  t.equal((await take('accept', hermit, ada)).status, 200);
  t.equal(await stateOf(ada, hermit), 'friends');
  t.equal((await take('remove', hermit, ada)).status, 200);
  t.equal((await take('request', hermit, ada)).status, 200);
  t.equal(await stateOf(ada, hermit), 'Bob has asked');
});

t.test('what is between two people is not between them and a third', async (t) => {
  const [ada, bob, eve] = [await service.person(), await service.person(), await service.person()];
  await befriend(ada, bob);
  await take('request', eve, ada);
  for (const verb of ['accept', 'decline', 'cancel', 'remove'] as const) {
    t.equal((await take(verb, eve, bob)).status, 404, `${verb}: Eve and Bob`);
    t.equal((await take(verb, bob, eve)).status, 404, `${verb}: Bob and Eve`);
  }
  t.strictSame(
    [await stateOf(ada, bob), await stateOf(eve, ada), await stateOf(eve, bob)],
    ['friends', 'Ada has asked', 'nothing'],
  );
});

t.test('of steps at once that exclude each other exactly one succeeds', async (t) => {
  type Step = [Verb, by: 'Ada' | 'Bob'];
  const races: [from: State, Step, Step, loser: number, outcomes: State[]][] = [
    ['nothing', ['request', 'Ada'], ['request', 'Bob'], 409, ['Ada has asked', 'Bob has asked']],
    ['nothing', ['request', 'Ada'], ['request', 'Ada'], 409, ['Ada has asked']],
    ['Bob has asked', ['accept', 'Ada'], ['cancel', 'Bob'], 404, ['friends', 'nothing']],
    ['Bob has asked', ['accept', 'Ada'], ['decline', 'Ada'], 404, ['friends', 'nothing']],
    ['Bob has asked', ['accept', 'Ada'], ['accept', 'Ada'], 404, ['friends']],
    ['Bob has asked', ['decline', 'Ada'], ['cancel', 'Bob'], 404, ['nothing']],
    ['friends', ['remove', 'Ada'], ['remove', 'Bob'], 404, ['nothing']],
  ];
  const [ada, bob] = [await service.person(), await service.person()];
  const run = ([verb, by]: Step) => (by === 'Ada' ? take(verb, ada, bob) : take(verb, bob, ada));
  for (const [from, one, other, loser, outcomes] of races) {
    const seen: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      await bring(from, ada, bob);
      const steps = round % 2 ? [one, other] : [other, one];
      const statuses = (await Promise.all(steps.map(run))).map(({ status }) => status);
      const state = await stateOf(ada, bob);
      const won = statuses.filter((status) => status === 200).length === 1 && statuses.includes(loser);
      // What there is now is what the winner wanted.
      const [winner] = steps[statuses.indexOf(200)] ?? [];
      const wanted = winner === 'accept' ? 'friends' : winner === 'request' ? 'asked' : 'nothing';
      if (!won || !outcomes.includes(state as State) || !state.includes(wanted)) seen.push(`${statuses} → ${state}`);
    }
    t.strictSame(seen, [], `${one.join(' by ')} and ${other.join(' by ')}: one 200, one ${loser}`);
  }
});

t.test('twenty who ask one person at once are twenty requests', async (t) => {
  const ada = await service.person();
  const people = await Promise.all(Array.from({ length: 20 }, () => service.person()));
  const sent = await Promise.all(people.map((person) => take('request', person, ada)));
  t.ok(sent.every(({ status }) => status === 200));
  const ids = people.map(({ id }) => id).sort((a, b) => a - b);
  t.strictSame(await requestsTo(ada), ids, 'all are listed, by id');
  await Promise.all(people.map((person) => take('accept', ada, person)));
  t.strictSame(await friendsOf(ada), ids, 'and so are friends');
  t.strictSame(await requestsTo(ada), []);
});

t.test('a request to oneself is 400, and oneself is nobody’s friend', async (t) => {
  const ada = await service.person();
  const answer = await take('request', ada, ada);
  t.strictSame([answer.status, problemsOf(answer)], [400, ['query.to']]);
  for (const verb of ['accept', 'decline', 'cancel', 'remove'] as const) {
    t.equal((await take(verb, ada, ada)).status, 404, verb);
  }
  t.strictSame([await friendsOf(ada), await requestsTo(ada)], [[], []]);
});

t.test('somebody who does not exist is 404', async (t) => {
  const ada = await service.person();
  for (const verb of Object.keys(verbs) as Verb[]) {
    t.equal((await take(verb, ada, { id: 9007199254740991 })).status, 404, verb);
  }
});

t.test('an id that is none is 400 and named', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const noIds = ['0', '-1', '1.5', '1e3', '007', '', '9007199254740992', '99999999999999999999', 'x', '%2B1', '%00'];
  for (const [verb, [method, path]] of Object.entries(verbs)) {
    const [, parameter = ''] = /\?(\w+)=/.exec(path) ?? [];
    const route = path.slice(0, path.indexOf('?'));
    const twice = `?${parameter}=${bob.id}&${parameter}=${bob.id}`;
    for (const query of [...noIds.map((id) => `?${parameter}=${id}`), '', `?${parameter}`, twice]) {
      const answer = await ada.ask(method, route + query);
      t.strictSame([answer.status, ...new Set(problemsOf(answer))], [400, `query.${parameter}`], `${verb}${query}`);
    }
    const misnamed = await ada.ask(method, `${route}?user=${bob.id}`);
    t.strictSame(problemsOf(misnamed).sort(), [`query.${parameter}`, 'query.user'].sort(), `${verb}: misnamed`);
    const more = await ada.ask(method, `${path}${bob.id}&message=hi`);
    t.strictSame([more.status, problemsOf(more)], [400, ['query.message']], `${verb}: nothing beside it`);
  }
  for (const list of ['/friends', '/friends/requests']) {
    const answer = await ada.ask('GET', `${list}?limit=5`);
    t.strictSame([answer.status, problemsOf(answer)], [400, ['query.limit']], `${list} takes no parameter`);
  }
  t.equal(await stateOf(ada, bob), 'nothing');
});

const bodies: [what: string, type: string | undefined, body: string][] = [
  ['an empty JSON object', 'application/json', '{}'],
  ['a JSON object', 'application/json', '{"to":1}'],
  ['a JSON array', 'application/json', '[]'],
  ['JSON null', 'application/json', 'null'],
  ['broken JSON', 'application/json', '{'],
  ['white space', 'application/json', ' '],
  ['text', 'text/plain', 'hello'],
  ['a URL-encoded form', 'application/x-www-form-urlencoded', 'to=1'],
  ['a multipart form', 'multipart/form-data; boundary=edge', '--edge--\r\n'],
  ['bytes', 'application/octet-stream', '\0'],
  ['a body without a type', undefined, 'x'],
  ['a body of a type that is none', 'nonsense', '{}'],
];

/** Sends any body with any method, which fetch will not do. */
function send(method: string, path: string, token: string, body: string, type?: string, chunked = false) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(type !== undefined && { 'Content-Type': type }),
      ...(chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': Buffer.byteLength(body) }),
    };
    const sent = request(service.url + path, { method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, body: text });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

t.test('no friend operation takes a body of any kind', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const operations: [state: State, method: string, path: string, next: State][] = [
    ['nothing', 'POST', `/friends/request?to=${bob.id}`, 'Ada has asked'],
    ['Bob has asked', 'POST', `/friends/accept?from=${bob.id}`, 'friends'],
    ['Bob has asked', 'POST', `/friends/decline?from=${bob.id}`, 'nothing'],
    ['Ada has asked', 'POST', `/friends/cancel?to=${bob.id}`, 'nothing'],
    ['friends', 'DELETE', `/friends/remove?id=${bob.id}`, 'nothing'],
    ['friends', 'GET', '/friends', 'friends'],
    ['friends', 'GET', '/friends/requests', 'friends'],
  ];
  for (const [state, method, path, next] of operations) {
    await bring(state, ada, bob);
    for (const [what, type, body] of bodies) {
      for (const chunked of [false, true]) {
        const answer = await send(method, path, ada.token, body, type, chunked);
        t.equal(answer.status, 400, `${method} ${path} with ${what}${chunked ? ', chunked' : ''}`);
        t.match(JSON.parse(answer.body).errors, [{ in: 'body' }]);
      }
    }
    t.equal(await stateOf(ada, bob), state, 'nothing has changed');
    const empty = await send(method, path, ada.token, '', 'application/json', method !== 'DELETE');
    t.equal(empty.status, 200, `${method} ${path}: zero bytes are no body, whatever their type`);
    t.equal(await stateOf(ada, bob), next);
  }
});

t.test('an incoming request shows what the caller may see of who has asked', async (t) => {
  const ada = await service.person();
  const open = await service.person({ name: 'Open Minded' });
  const hermit = await service.person({ name: 'Her Mit', private: true });
  const image = new Blob([samples.png], { type: 'image/png' });
  for (const person of [open, hermit]) await person.ask('PUT', '/profiles/me', { form: { image } });
  await take('request', hermit, ada);
  await take('request', open, ada);

  const brief = ({ id, name, username }: Person) => ({ id, name, username });
  const full = async (person: Person) => (await person.ask('GET', '/profiles/me')).body;
  const { status, body } = await ada.ask('GET', '/friends/requests');
  t.equal(status, 200);
  t.strictSame(
    body,
    [await full(open), brief(hermit)],
    'all of a public account, three fields of a private one, by id',
  );
  t.match(body[0], { profile_link: /^\/profiles\/image\//, private: false });
  for (const [person, index] of [
    [open, 0],
    [hermit, 1],
  ] as const) {
    t.strictSame((await ada.ask('GET', `/profiles/${person.id}`)).body, body[index], 'just as the profile shows it');
  }

  await open.ask('PUT', '/profiles/me', { form: { private: 'true' } });
  await hermit.ask('PUT', '/profiles/me', { form: { private: 'false' } });
  const after = (await ada.ask('GET', '/friends/requests')).body;
  t.strictSame(after, [brief(open), await full(hermit)], 'as they are now, not as they were when they asked');
  t.strictSame((await open.ask('GET', '/friends/requests')).body, [], 'what one has sent oneself is not incoming');
});

t.test('a friend is listed in full, private or not', async (t) => {
  const ada = await service.person();
  const open = await service.person({ name: 'Open Minded' });
  const hermit = await service.person({ name: 'Her Mit', private: true });
  const image = new Blob([samples.webp], { type: 'image/webp' });
  await hermit.ask('PUT', '/profiles/me', { form: { image } });
  await befriend(ada, hermit);
  await befriend(open, ada);
  const { status, body } = await ada.ask('GET', '/friends');
  t.equal(status, 200);
  t.match(body, [
    { id: open.id, name: 'Open Minded', username: open.username, profile_link: null, private: false },
    { id: hermit.id, name: 'Her Mit', username: hermit.username, profile_link: /\.webp$/, private: true },
  ]);
  for (const entry of body) {
    t.strictSame(Object.keys(entry).sort(), ['id', 'name', 'private', 'profile_link', 'username']);
    t.strictSame((await ada.ask('GET', `/profiles/${entry.id}`)).body, entry, 'just as the profile shows it');
  }
  t.equal((await ada.ask('GET', body[1].profile_link)).status, 200, 'with a picture that opens');
  t.strictSame(await friendsOf(hermit), [ada.id]);
});

t.test('a deleted account leaves the lists, and can be dealt with no more', async (t) => {
  const [ada, friend, asking, asked] = await Promise.all(Array.from({ length: 4 }, () => service.person()));
  if (!ada || !friend || !asking || !asked) throw new Error('four people are needed');
  await befriend(ada, friend);
  await take('request', asking, ada);
  await take('request', ada, asked);
  for (const person of [friend, asking, asked]) {
    const { status } = await person.ask('DELETE', '/profiles/me', { json: { password: PASSWORD } });
    t.equal(status, 200);
  }
  t.strictSame([await friendsOf(ada), await requestsTo(ada)], [[], []]);
  for (const person of [friend, asking, asked]) {
    for (const verb of Object.keys(verbs) as Verb[]) t.equal((await take(verb, ada, person)).status, 404, verb);
  }
  t.strictSame(
    await storedTies(service.stores, [ada.id]),
    { friendships: [], requests: [], likes: [] },
    'the graph has forgotten them',
  );
});

t.test('accounts that are gone are left out before the graph has caught up', async (t) => {
  const ada = await service.person();
  const [friend, kept] = [await service.person(), await service.person()];
  const [asking, waiting] = [await service.person(), await service.person()];
  await befriend(ada, friend);
  await befriend(ada, kept);
  await take('request', asking, ada);
  await take('request', waiting, ada);
  await db.deleteFrom('accounts').where('id', 'in', [friend.id, asking.id]).execute();
  t.strictSame([await friendsOf(ada), await requestsTo(ada)], [[kept.id], [waiting.id]]);
  t.equal((await take('accept', ada, asking)).status, 404, 'nobody becomes a friend of the dead');
  t.equal((await take('request', ada, friend)).status, 404, 'who are not asked either');
  t.strictSame(await friendsOf(ada), [kept.id]);
});

t.test('every operation on friends wants credentials before anything else', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  await ada.ask('POST', '/auth/logout');
  for (const person of [{ ...ada, ask: service.ask }, ada]) {
    for (const verb of Object.keys(verbs) as Verb[]) {
      t.equal((await take(verb, person, bob)).status, 401, verb);
      t.equal((await take(verb, person, { id: 'x' })).status, 401, `${verb} of what is no id`);
    }
    for (const list of ['/friends', '/friends/requests', '/friends?page=1']) {
      t.equal((await person.ask('GET', list)).status, 401, list);
    }
  }
});
