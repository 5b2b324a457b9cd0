import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { countLikes, storedImages, storedTies, undelivered } from './contents.js';
import {
  type Answer,
  type Ask,
  CLEARED_COOKIE,
  cookieOf,
  PASSWORD,
  type Person,
  problemsOf,
  startTestService,
} from './harness.js';

const service = await startTestService(t);
const { db, graph } = service.stores;

type Form = NonNullable<Ask['form']>;

const NEW_PASSWORD = 'Amber-Lighthouse-58?';
const png = new Blob([samples.png], { type: 'image/png' });
const gif = new Blob([samples.gif], { type: 'image/gif' });

const update = (person: Person, form: Form) => person.ask('PUT', '/profiles/me', { form });
const profileOf = async (person: Person) => (await person.ask('GET', '/profiles/me')).body;
const accountOf = async (person: Person) => (await person.ask('GET', '/auth/me')).body;
const login = (email: string, password: string) => service.ask('POST', '/auth/login', { json: { email, password } });
const nameOf = (link: string) => link.replace('/profiles/image/', '');

/** All that an update could have changed. */
async function stateOf({ id }: Person) {
  const account = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  const sessions = await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute();
  return { account, sessions, images: await storedImages(service.stores) };
}

/** Expects an update to be refused with these problems, and to leave everything as it was. */
async function refused(
  t: Test,
  person: Person,
  ask: Ask,
  expected: { status: number; problems?: string[] },
  title: string,
) {
  const before = await stateOf(person);
  const answer = await person.ask('PUT', '/profiles/me', ask);
  t.equal(answer.status, expected.status, title);
  if (expected.problems) t.same(problemsOf(answer).sort(), expected.problems, `${title}: the fields are named`);
  t.equal(cookieOf(answer), undefined);
  t.same(await stateOf(person), before, `${title}: nothing has changed`);
  return answer;
}

async function befriend(one: Person, other: Person) {
  await one.ask('POST', `/friends/request?to=${other.id}`);
  await other.ask('POST', `/friends/accept?from=${one.id}`);
}

t.test('the own profile is full, private or not', async (t) => {
  for (const isPrivate of [false, true]) {
    const person = await service.person({ name: 'Ada B.', private: isPrivate });
    const { id, name, username } = person;
    const answer = await person.ask('GET', '/profiles/me');
    t.equal(answer.status, 200);
    t.same(answer.body, { id, name, username, profile_link: null, private: isPrivate });
  }
});

/** Everybody there is to an owner's eyes. */
interface Viewers {
  friend: Person;
  stranger: Person;
  asked: Person;
  asker: Person;
  former: Person;
}

async function viewers(): Promise<Viewers> {
  const [friend, stranger, asked, asker, former] = (await Promise.all(
    Array.from({ length: 5 }, () => service.person()),
  )) as [Person, Person, Person, Person, Person];
  return { friend, stranger, asked, asker, former };
}

t.test('a profile is full to its owner, to friends, and to everybody if it is public', async (t) => {
  // A pair of people is kept in the order of their ids, so each kind of viewer is there with a lower one and a higher.
  const earlier = await viewers();
  const owner = await service.person();
  const later = await viewers();
  for (const { friend, asked, asker, former } of [earlier, later]) {
    await befriend(friend, owner);
    await befriend(owner, former);
    await owner.ask('POST', `/friends/request?to=${asked.id}`);
    await asker.ask('POST', `/friends/request?to=${owner.id}`);
    await former.ask('DELETE', `/friends/remove?id=${owner.id}`);
  }
  const { id, name, username } = owner;
  for (const isPrivate of [false, true]) {
    await update(owner, { private: String(isPrivate) });
    const full = { id, name, username, profile_link: null, private: isPrivate };
    t.same((await owner.ask('GET', `/profiles/${id}`)).body, full, 'its owner');
    for (const [when, { friend, ...others }] of Object.entries({ earlier, later })) {
      t.same((await friend.ask('GET', `/profiles/${id}`)).body, full, `friend, ${when}`);
      for (const [title, viewer] of Object.entries(others)) {
        const answer = await viewer.ask('GET', `/profiles/${id}`);
        t.equal(answer.status, 200);
        t.same(answer.body, isPrivate ? { id, name, username } : full, `${title}, ${when}, private: ${isPrivate}`);
      }
    }
  }
});

t.test('what is no user’s id names no profile', async (t) => {
  const person = await service.person();
  for (const id of [
    '9007199254740991',
    '9007199254740992',
    '99999999999999999999',
    '0',
    '-1',
    `+${person.id}`,
    `0${person.id}`,
    `${person.id}.0`,
    `${person.id}e0`,
    `${person.id}%20`,
    `${person.id}%00`,
    '%00',
    'you',
    'null',
    '%F0%9F%98%80',
    '..%2fme',
  ]) {
    t.equal((await person.ask('GET', `/profiles/${id}`)).status, 404, id);
  }
});

t.test('each field can be changed alone, and leaves the others as they are', async (t) => {
  const person = await service.person({ name: 'Before' });
  const username = `${person.username}x`;
  let profile = await profileOf(person);
  for (const [form, change] of [
    [{ name: ' Jo\tAnn 😀 ' }, { name: ' Jo\tAnn 😀 ' }],
    [{ username }, { username }],
    [{ private: 'true' }, { private: true }],
    [{ email: ` ${person.email.replace('@', '+NEW@')}\n` }, {}],
    [{ private: 'false' }, { private: false }],
    [
      { name: 'A', username: `${username}y`, private: 'true' },
      { name: 'A', username: `${username}y`, private: true },
    ],
  ] as [Form, object][]) {
    const answer = await update(person, form);
    t.equal(answer.status, 200, JSON.stringify(form));
    profile = { ...profile, ...change };
    t.same(answer.body, profile);
    t.same(await profileOf(person), profile, 'it is stored');
    t.equal(cookieOf(answer), undefined, 'the session goes on');
  }
  t.same(await accountOf(person), {
    id: person.id,
    name: 'A',
    username: `${username}y`,
    email: person.email.replace('@', '+new@'),
  });
});

t.test('a form that changes nothing is refused', async (t) => {
  const person = await service.person();
  // As browsers send it; `fetch` would leave the empty name out.
  const noFile = [
    '--a-boundary',
    'Content-Disposition: form-data; name="image"; filename=""',
    'Content-Type: application/octet-stream',
    '',
    '',
    '--a-boundary--',
    '',
  ].join('\r\n');
  const type = 'multipart/form-data; boundary=a-boundary';
  for (const [title, ask] of [
    ['an empty form', { body: new FormData() }],
    ['an empty file input', { body: noFile, headers: { 'Content-Type': type } }],
    ['the current password alone', { form: { current_password: PASSWORD } }],
    ['a wrong current password alone', { form: { current_password: NEW_PASSWORD } }],
    ['remove_image=false alone', { form: { remove_image: 'false' } }],
    ['both of these', { form: { current_password: PASSWORD, remove_image: 'FALSE' } }],
    ['no body at all', {}],
  ] as [string, Ask][]) {
    await refused(t, person, ask, { status: 400, problems: ['body.'] }, title);
  }
});

t.test('setting a field to the value that it has is a change', async (t) => {
  const person = await service.person();
  for (const form of [
    { name: person.name },
    { username: person.username },
    { username: person.username.toUpperCase() },
    { email: person.email },
    { private: 'false' },
    { remove_image: 'true' },
    { name: person.name, remove_image: 'false' },
  ]) {
    t.equal((await update(person, form)).status, 200, JSON.stringify(form));
  }
});

t.test('booleans are true or false, in any case of letters', async (t) => {
  const person = await service.person();
  for (const [value, expected] of [
    ['true', true],
    ['False', false],
    ['TRUE', true],
    ['FALSE', false],
    ['True', true],
    ['fAlSe', false],
  ] as const) {
    t.equal((await update(person, { private: value })).body.private, expected, value);
    t.equal((await update(person, { name: 'Jo', remove_image: value })).status, 200, `remove_image=${value}`);
  }
  for (const value of ['', '1', '0', 'yes', 'on', 'null', ' true', 'true ', 'true\n', 'truе']) {
    for (const field of ['private', 'remove_image']) {
      await refused(
        t,
        person,
        { form: { name: 'Ann', [field]: value } },
        { status: 400, problems: [`body.${field}`] },
        `${field}=${value}`,
      );
    }
  }
});

t.test('changed text follows the rules of registration', async (t) => {
  const person = await service.person();
  for (const [field, values] of Object.entries({
    name: ['', ' \t\u3000', 'n'.repeat(101), '😀'.repeat(101), 'Jo\0Ann'],
    username: [
      '',
      'u'.repeat(51),
      '😀'.repeat(51),
      'jo ann',
      'jo\u3000ann',
      'jo\u0007ann',
      'jo\u200bann',
      'jo\u{e0041}',
      'jo\0',
    ],
    email: [
      '',
      ' ',
      'joann',
      'joann@people',
      'jo ann@people.example',
      `${'e'.repeat(240)}@people.example`,
      'joann@mailinator.com',
      '"jo"@people.example',
      'jo\0@people.example',
    ],
    password: [
      '',
      'Quiet-27!😀😁',
      `${NEW_PASSWORD}${'😀🐚'.repeat(55)}`,
      'amber-lighthouse-58',
      'Password123!',
      `${NEW_PASSWORD}\0`,
    ],
    current_password: ['', 'x'.repeat(129), `${PASSWORD}\0`],
  })) {
    for (const value of values) {
      // A password that is wrong as well: the form is judged first.
      const form = { name: 'Ann', current_password: NEW_PASSWORD, [field]: value };
      const answer = await refused(
        t,
        person,
        { form },
        { status: 400 },
        `${field} ${JSON.stringify(value).slice(0, 30)}`,
      );
      t.same([...new Set(problemsOf(answer))], [`body.${field}`]);
    }
  }
  for (const form of [
    { name: '😀'.repeat(100) },
    { username: '🐚'.repeat(50) },
    { email: ` Someone.New@People.example ` },
  ] as Form[]) {
    t.equal((await update(person, form)).status, 200, Object.keys(form).join());
  }
});

t.test('only the documented fields are taken, once each, and as what they are', async (t) => {
  const person = await service.person();
  for (const field of [
    'id',
    'author_id',
    'profile_link',
    'picture',
    'token_version',
    'is_admin',
    'Name',
    '__proto__',
    'constructor',
  ]) {
    const body = new FormData();
    body.append('name', 'Ann');
    body.append(field, '1');
    await refused(t, person, { body }, { status: 400, problems: [`body.${field}`] }, field);
  }
  for (const [field, values] of [
    ['name', ['Ann', 'Ann']],
    ['private', ['true', 'false']],
    ['image', [png, png]],
    ['image', ['text']],
    ['name', [png]],
    ['picture', [png]],
  ] as const) {
    const body = new FormData();
    for (const value of values) body.append(field, value as string);
    await refused(t, person, { body }, { status: 400, problems: [`body.${field}`] }, `${field} × ${values.length}`);
  }
  const query = await person.ask('PUT', '/profiles/me?private=true', { form: { name: 'Ann' } });
  t.equal(query.status, 400);
  t.same(problemsOf(query), ['query.private']);
});

t.test('all that is wrong with a form is said at once', async (t) => {
  const person = await service.person();
  const form = {
    name: '',
    username: 'a b',
    email: 'x',
    password: 'weak',
    private: 'maybe',
    image: png,
    remove_image: 'true',
    nick: 'x',
  };
  const answer = await refused(t, person, { form }, { status: 400 }, 'many problems');
  t.same([...new Set(problemsOf(answer))].sort(), [
    'body.current_password',
    'body.email',
    'body.name',
    'body.nick',
    'body.password',
    'body.private',
    'body.remove_image',
    'body.username',
  ]);
  const words = answer.body.errors.filter(({ field }: { field: string }) => field === 'password');
  t.match(
    words.map(({ message }: { message: string }) => message),
    [/at least 12/, /uppercase/, /digit/, /special/],
  );
});

t.test('an update is a multipart form and nothing else', async (t) => {
  const person = await service.person();
  for (const [type, body] of [
    ['application/json', JSON.stringify({ name: 'Ann' })],
    ['application/x-www-form-urlencoded', 'name=Ann'],
    ['text/plain', 'name=Ann'],
    ['image/png', samples.png],
    [undefined, Buffer.from('name=Ann')],
  ] as const) {
    const ask = { body, ...(type && { headers: { 'Content-Type': type } }) };
    await refused(t, person, ask, { status: 415 }, String(type));
  }
});

t.test('a new password needs the current one', async (t) => {
  const person = await service.person();
  await refused(
    t,
    person,
    { form: { password: NEW_PASSWORD } },
    { status: 400, problems: ['body.current_password'] },
    'none',
  );
  const answer = await update(person, { password: NEW_PASSWORD, current_password: PASSWORD });
  t.equal(answer.status, 200);
  t.same(answer.body, {
    id: person.id,
    name: person.name,
    username: person.username,
    profile_link: null,
    private: false,
  });
  t.same(cookieOf(answer), CLEARED_COOKIE, 'the session has ended');
  t.equal((await person.ask('GET', '/auth/me')).status, 401);
  t.equal((await login(person.email, PASSWORD)).status, 401);
  t.equal((await login(person.email, NEW_PASSWORD)).status, 200);
});

t.test('the password that one has may be set again, and ends all sessions too', async (t) => {
  const person = await service.person();
  t.equal((await update(person, { password: PASSWORD, current_password: PASSWORD })).status, 200);
  t.equal((await person.ask('GET', '/auth/me')).status, 401);
  t.equal((await login(person.email, PASSWORD)).status, 200);
});

t.test('passwords are taken as they are, white space included', async (t) => {
  const person = await service.person();
  const spaced = '  Quiet Jos\u00e9 58  ';
  t.equal((await update(person, { password: spaced, current_password: PASSWORD })).status, 200);
  t.equal((await login(person.email, spaced.trim())).status, 401);
  const { token } = (await login(person.email, spaced)).body;
  const again = {
    ...person,
    ask: (method: string, path: string, ask?: Ask) => service.ask(method, path, { token, ...ask }),
  };
  await refused(t, again, { form: { name: 'Ann', current_password: spaced.trim() } }, { status: 401 }, 'trimmed');
  t.equal((await update(again, { name: 'Ann', current_password: spaced })).status, 200);
});

t.test('the current password is checked whenever it is sent, before anything is stored', async (t) => {
  const person = await service.person();
  const other = await service.person();
  for (const form of [
    { name: 'Ann' },
    { password: NEW_PASSWORD },
    { name: 'Ann', username: `${person.username}x`, private: 'true', image: png },
    { remove_image: 'true' },
    // Taken as well: the password comes first.
    { username: other.username },
    { email: other.email },
  ]) {
    const ask = { form: { ...form, current_password: `${PASSWORD} ` } };
    const answer = await refused(t, person, ask, { status: 401 }, Object.keys(form).join());
    t.same(answer.body, { message: 'Invalid password' });
    t.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
  t.equal((await update(person, { name: 'Ann', current_password: PASSWORD })).status, 200);
  t.equal((await person.ask('GET', '/auth/me')).status, 200, 'to prove a password is not to change it');
});

t.test('a new password is judged by the username and email that result', async (t) => {
  const person = await service.person();
  const [old, next] = ['moss-green', 'fern-brown'];
  t.equal((await update(person, { username: old, email: `${next}@people.example` })).status, 200);
  const holding = (part: string) => `Quiet ${part.toUpperCase()} 27 b`;
  for (const form of [
    { password: holding(old) },
    { password: holding(next) },
    { password: holding('bark-black'), username: 'bark-black' },
    { password: holding('bark-black'), email: 'BARK-black@people.example' },
    { password: holding(old), email: 'bark-black@people.example' },
  ] as { password: string }[]) {
    const ask = { form: { ...form, current_password: PASSWORD } };
    await refused(t, person, ask, { status: 400, problems: ['body.password'] }, JSON.stringify(form));
  }
  const both = { username: 'bark-black', email: 'ash-white@people.example', password: `${old} Quiet ${next} 27` };
  t.equal((await update(person, { ...both, current_password: PASSWORD })).status, 200, 'the former ones may be in it');
  const { token } = (await login('ash-white@people.example', both.password)).body;
  const rename = { token, form: { username: old } };
  t.equal((await service.ask('PUT', '/profiles/me', rename)).status, 200, 'what comes later cannot be checked');
});

t.test('a username or email that another has is refused, in every case and Unicode form', async (t) => {
  const person = await service.person();
  const other = await service.person();
  await update(other, { username: 'Strauß' });
  for (const form of [
    { username: 'Strauß' },
    { username: 'STRAUSS' },
    { username: 'ｓtrauß', name: 'Ann', image: png },
    { email: other.email },
    { email: ` ${other.email.toUpperCase()} `, name: 'Ann', private: 'true' },
    { username: 'Strauß', password: NEW_PASSWORD, current_password: PASSWORD },
  ] as Form[]) {
    const answer = await refused(t, person, { form }, { status: 409 }, JSON.stringify(form));
    t.type(answer.body.message, 'string');
  }
  await update(other, { username: other.username, email: `x${other.email}` });
  t.equal(
    (await update(person, { username: 'strauss', email: other.email })).status,
    200,
    'they are free when given up',
  );
});

t.test('of several who take one username at once exactly one succeeds', async (t) => {
  const people = await Promise.all(Array.from({ length: 4 }, () => service.person()));
  const answers = await Promise.all(people.map((person) => update(person, { username: 'Sought-After' })));
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
});

t.test('a picture is stored, served as it came, and named by nothing that its file said', async (t) => {
  const person = await service.person();
  for (const [kind, type, extension] of [
    ['png', 'image/png', 'png'],
    ['jpeg', 'image/jpeg', 'jpg'],
    ['gif', 'image/gif', 'gif'],
    ['webp', 'image/webp', 'webp'],
    ['avif', 'image/avif', 'avif'],
  ] as const) {
    const blob = new Blob([samples[kind]], { type });
    const { status, body } = await update(person, { image: { blob, name: '../../etc/me.html' } });
    t.equal(status, 200, kind);
    t.match(body.profile_link, new RegExp(`^/profiles/image/[0-9a-f]{32}\\.${extension}$`));
    const image = await person.ask('GET', body.profile_link);
    t.equal(image.status, 200);
    t.ok(image.bytes.equals(samples[kind]));
    t.equal(image.headers.get('content-type'), type);
    t.equal((await profileOf(person)).profile_link, body.profile_link);
  }
});

t.test('a new picture replaces the old one, whose bytes are gone', async (t) => {
  const person = await service.person();
  const { profile_link: old } = (await update(person, { image: png })).body;
  const before = await storedImages(service.stores);
  const { profile_link: link } = (await update(person, { image: gif, remove_image: 'false' })).body;
  t.not(link, old);
  t.equal((await person.ask('GET', old)).status, 404);
  t.equal((await person.ask('GET', link)).status, 200);
  t.same(
    await storedImages(service.stores),
    [...before.filter((name) => name !== nameOf(old)), nameOf(link)].sort(),
    'one image has taken the place of the other',
  );
  const again = (await update(person, { image: gif })).body.profile_link;
  t.not(again, link, 'the same bytes get a new name');
  t.equal((await update(person, { name: 'Ann', private: 'true' })).body.profile_link, again, 'other changes keep it');
});

t.test('of two pictures sent at once one is kept, and the other leaves nothing', async (t) => {
  const person = await service.person();
  await update(person, { image: png });
  const before = await storedImages(service.stores);
  const answers = await Promise.all([update(person, { image: png }), update(person, { image: gif })]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  const { profile_link: link } = await profileOf(person);
  t.ok(answers.some(({ body }) => body.profile_link === link));
  t.equal((await storedImages(service.stores)).length, before.length);
  t.ok((await storedImages(service.stores)).includes(nameOf(link)));
});

t.test('a picture can be removed, with its bytes', async (t) => {
  const person = await service.person();
  const { profile_link: link } = (await update(person, { image: png })).body;
  const answer = await update(person, { remove_image: 'true' });
  t.equal(answer.status, 200);
  t.equal(answer.body.profile_link, null);
  t.equal((await profileOf(person)).profile_link, null);
  t.equal((await person.ask('GET', link)).status, 404);
  t.notOk((await storedImages(service.stores)).includes(nameOf(link)));
  t.equal(
    (await update(person, { remove_image: 'true' })).status,
    200,
    'where there is none it is a change all the same',
  );
});

t.test('what is no image of its declared type, or comes with its removal, is not stored', async (t) => {
  const person = await service.person();
  await update(person, { image: png });
  for (const [title, form, problem] of [
    ['an image and its removal', { image: gif, remove_image: 'true' }, 'body.remove_image'],
    ['a GIF declared as PNG', { image: new Blob([samples.gif], { type: 'image/png' }) }, 'body.image'],
    ['text declared as PNG', { image: new Blob(['text'], { type: 'image/png' }) }, 'body.image'],
    ['a web page', { image: new Blob(['<!doctype html>'], { type: 'text/html' }) }, 'body.image'],
    ['an empty file', { image: new Blob([], { type: 'image/png' }) }, 'body.image'],
  ] as const) {
    await refused(t, person, { form }, { status: 400, problems: [problem] }, title);
  }
  const octets = new Blob([samples.gif], { type: 'application/octet-stream' });
  t.match((await update(person, { image: octets })).body.profile_link, /\.gif$/, 'the signature alone can decide');
});

t.test('a picture is seen by whoever sees the full profile, and by nobody else', async (t) => {
  const [owner, friend, stranger] = (await Promise.all(Array.from({ length: 3 }, () => service.person()))) as [
    Person,
    Person,
    Person,
  ];
  await befriend(owner, friend);
  const { profile_link: link } = (await update(owner, { image: png })).body;
  t.equal((await stranger.ask('GET', `/profiles/${owner.id}`)).body.profile_link, link);
  const shown = await stranger.ask('GET', link);
  t.equal(shown.status, 200, 'a public one by everybody');
  const etag = shown.headers.get('etag') ?? '';

  await update(owner, { private: 'true' });
  t.same(Object.keys((await stranger.ask('GET', `/profiles/${owner.id}`)).body), ['id', 'name', 'username']);
  t.equal((await friend.ask('GET', `/profiles/${owner.id}`)).body.profile_link, link);
  for (const [viewer, status] of [
    [owner, 200],
    [friend, 200],
    [stranger, 404],
  ] as const) {
    t.equal((await viewer.ask('GET', link)).status, status);
    const conditional = await viewer.ask('GET', link, { headers: { 'If-None-Match': etag } });
    t.equal(conditional.status, status === 200 ? 304 : 404, 'who sees nothing is not told that nothing has changed');
  }
  const none = await stranger.ask('GET', `/profiles/image/${'0'.repeat(32)}.png`);
  t.same((await stranger.ask('GET', link)).body, none.body, 'a hidden picture is like none');
  t.equal(
    (await stranger.ask('GET', link.replace('/profiles/', '/posts/'))).status,
    404,
    'nor is it to be had as a post’s',
  );
  t.equal((await service.ask('GET', link)).status, 401, 'nor without credentials');
});

const remove = (person: Person, json: unknown) => person.ask('DELETE', '/profiles/me', { json });

t.test('an account is deleted for its password and nothing else', async (t) => {
  const person = await service.person();
  for (const [json, ...problems] of [
    [{}, 'body.password'],
    [{ password: '' }, 'body.password'],
    [{ password: null }, 'body.password'],
    [{ password: 'x'.repeat(129) }, 'body.password'],
    [{ password: '😀'.repeat(129) }, 'body.password'],
    [{ password: `${PASSWORD}\0` }, 'body.password'],
    [{ password: `${PASSWORD}\ud800` }, 'body.password'],
    [{ password: PASSWORD, email: person.email }, 'body.email'],
    [{ password: PASSWORD, confirm: true }, 'body.confirm'],
    [[PASSWORD], 'body.'],
  ] as const) {
    const answer = await remove(person, json);
    t.equal(answer.status, 400, JSON.stringify(json).slice(0, 40));
    t.same(problemsOf(answer), problems);
  }
  const missing = await person.ask('DELETE', '/profiles/me');
  t.equal(missing.status, 400);
  t.same(problemsOf(missing), ['body.password'], 'no body');
  t.equal((await person.ask('DELETE', '/profiles/me', { form: { password: PASSWORD } })).status, 415);
  const query = await person.ask('DELETE', '/profiles/me?force=1', { json: { password: PASSWORD } });
  t.same(problemsOf(query), ['query.force']);
  t.equal((await person.ask('GET', '/auth/me')).status, 200, 'the account is still there');
});

t.test('a wrong password deletes nothing', async (t) => {
  const spaced = `  ${PASSWORD} `;
  const json = { name: 'Jo', username: 'spaced', email: 'jo@people.example', password: spaced };
  await service.ask('POST', '/auth/register', { json });
  const { token } = (await login('jo@people.example', spaced)).body;
  const ask = (password: string) => service.ask('DELETE', '/profiles/me', { token, json: { password } });
  for (const password of [PASSWORD, spaced.trimEnd(), `${spaced} `, spaced.toUpperCase(), 'x', '😀'.repeat(128)]) {
    const answer = await ask(password);
    t.equal(answer.status, 401);
    t.same(answer.body, { message: 'Invalid password' });
    t.equal(answer.headers.get('www-authenticate'), 'Bearer');
    t.equal(cookieOf(answer), undefined, 'the session goes on');
  }
  t.equal((await service.ask('GET', '/auth/me', { token })).status, 200);
  t.equal((await ask(spaced)).status, 200, 'white space is part of it');
});

t.test('a deleted account leaves no trace', async (t) => {
  const [person, friend, asker, asked] = (await Promise.all(Array.from({ length: 4 }, () => service.person()))) as [
    Person,
    Person,
    Person,
    Person,
  ];
  const before = await storedImages(service.stores);
  const post = async (by: Person, form: Form): Promise<{ id: number; image: string }> =>
    (await by.ask('POST', '/posts/create', { form: { title: 'Title', text: 'Text', ...form } })).body;
  const picture = (await update(person, { image: png })).body.profile_link;
  const own = [await post(person, {}), await post(person, { image: gif })];
  const theirs = await post(friend, {});
  await befriend(person, friend);
  await asker.ask('POST', `/friends/request?to=${person.id}`);
  await person.ask('POST', `/friends/request?to=${asked.id}`);
  for (const by of [person, asker]) await by.ask('POST', `/posts/like?id=${theirs.id}`);
  for (const { id } of own) await friend.ask('POST', `/posts/like?id=${id}`);
  const tokens = [person.token, await service.login(person.email)];
  t.equal((await storedImages(service.stores)).length, before.length + 2);
  t.equal((await friend.ask('GET', `/posts/${theirs.id}`)).body.like_count, 2);

  const answer = await remove(person, { password: PASSWORD });
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.body), ['message']);
  t.same(cookieOf(answer), CLEARED_COOKIE);

  for (const token of tokens) t.equal((await service.ask('GET', '/auth/me', { token })).status, 401);
  t.equal((await login(person.email, PASSWORD)).status, 401);
  t.equal((await friend.ask('GET', `/profiles/${person.id}`)).status, 404);
  t.equal((await friend.ask('GET', picture)).status, 404);
  for (const { id, image } of own) {
    t.equal((await friend.ask('GET', `/posts/${id}`)).status, 404);
    t.equal((await friend.ask('POST', `/posts/like?id=${id}`)).status, 404);
    if (image) t.equal((await friend.ask('GET', image)).status, 404);
  }
  t.same(await storedImages(service.stores), before, 'no image is left');
  t.equal((await friend.ask('GET', `/posts/${theirs.id}`)).body.like_count, 1, 'their likes are gone');
  t.same((await friend.ask('GET', '/friends')).body, []);
  t.same((await asked.ask('GET', '/friends/requests')).body, []);
  t.equal((await friend.ask('DELETE', `/friends/remove?id=${person.id}`)).status, 404);
  t.equal((await asker.ask('POST', `/friends/cancel?to=${person.id}`)).status, 404);
  t.equal((await asker.ask('POST', `/friends/request?to=${person.id}`)).status, 404);

  const { id } = person;
  const posts = own.map((post) => post.id);
  const left = {
    accounts: await db.selectFrom('accounts').where('id', '=', id).selectAll().execute(),
    sessions: await db.selectFrom('sessions').where('account_id', '=', id).selectAll().execute(),
    posts: await db.selectFrom('posts').where('author_id', '=', id).selectAll().execute(),
    ties: await storedTies(service.stores, [id]),
    likesOfPosts: await countLikes(graph, posts),
    outbox: await undelivered(service.stores),
  };
  t.same(left, {
    accounts: [],
    sessions: [],
    posts: [],
    ties: { friendships: [], requests: [], likes: [] },
    likesOfPosts: posts.map(() => 0),
    outbox: [],
  });

  const json = { name: 'New', username: person.username, email: person.email, password: PASSWORD };
  const again = await service.ask('POST', '/auth/register', { json });
  t.equal(again.status, 201, 'the username and email are free again');
  t.not(again.body.id, id);
  const token = await service.login(person.email);
  t.same((await service.ask('GET', '/posts/me', { token })).body, [], 'whoever takes them inherits nothing');
  t.same((await service.ask('GET', '/friends', { token })).body, []);
});

t.test('of two deletions at once one succeeds', async (t) => {
  const person = await service.person();
  const answers = await Promise.all([remove(person, { password: PASSWORD }), remove(person, { password: PASSWORD })]);
  t.same(answers.map(({ status }) => status).sort(), [200, 401]);
});

t.test('an email is never shown with a profile', async (t) => {
  const person = await service.person();
  const friend = await service.person();
  await befriend(person, friend);
  const answers: Answer[] = [
    await person.ask('GET', '/profiles/me'),
    await friend.ask('GET', `/profiles/${person.id}`),
    await friend.ask('GET', '/friends'),
    await update(person, { email: person.email }),
  ];
  for (const { status, bytes } of answers) {
    t.equal(status, 200);
    t.notOk(bytes.includes('@people.example'));
  }
});

t.test('no upload is left in the spool, taken or refused', async (t) => {
  // A file goes when its answer has gone out, so the last one may be a moment behind.
  const deadline = Date.now() + 5000;
  let left = await readdir(service.app.uploadsDir);
  while (left.length > 0 && Date.now() < deadline) {
    await setImmediate();
    left = await readdir(service.app.uploadsDir);
  }
  t.same(left, []);
});
