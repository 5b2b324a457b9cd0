import { hash } from '@node-rs/argon2';
import t from 'tap';
import { hashing } from '../handlers/password-hash.js';
import { type Answer, CLEARED_COOKIE, cookieOf, PASSWORD, problemsOf, startTestService } from './harness.js';

const service = await startTestService(t);
const { db } = service.stores;

let made = 0;

/** Somebody whom nobody has registered yet. */
function somebody(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  made += 1;
  const username = `newcomer${made}`;
  return { name: 'New Comer', username, email: `${username}@people.example`, password: PASSWORD, ...overrides };
}

const register = (overrides?: Record<string, unknown>) =>
  service.ask('POST', '/auth/register', { json: somebody(overrides) });
const login = (email: unknown, password: unknown = PASSWORD) =>
  service.ask('POST', '/auth/login', { json: { email, password } });
const me = (token: string) => service.ask('GET', '/auth/me', { token });

const accounts = async () =>
  (await db.selectFrom('accounts').select(db.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count;

/** What an answer says, without what differs from one request to the next. */
function saidBy({ status, headers, body }: Answer) {
  const passing = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  return { status, body, headers: [...headers].filter(([name]) => !passing.includes(name)) };
}

/** Registers with each value, and expects it to be taken, or refused with this field named and nobody made. */
function bounds(field: string, good: readonly string[], bad: readonly unknown[]) {
  t.test(`registration: what ${field} may be`, async (t) => {
    for (const value of good) {
      const { status, body } = await register({ [field]: value });
      t.equal(status, 201, `${show(value)} is taken`);
      t.type(body.id, 'number');
    }
    const before = await accounts();
    for (const value of bad) {
      const answer = await register({ [field]: value });
      t.equal(answer.status, 400, `${show(value)} is refused`);
      t.same([...new Set(problemsOf(answer))], [`body.${field}`], `${show(value)}: the field is named`);
    }
    t.equal(await accounts(), before, 'nobody was made');
  });
}

function show(value: unknown): string {
  const text = JSON.stringify(value).replace(/\P{ASCII}/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);
  return text.length > 60 ? `${text.slice(0, 40)}… (${[...String(value)].length} code points)` : text;
}

const NO_TEXT = [5, true, null, [], {}, ['text']];
const NUL_AND_SURROGATES = ['Jo\0Ann', 'Jo\ud800Ann', '\udc00', 'Jo\udfff\ud83d'];

bounds(
  'name',
  ['J', 'n'.repeat(100), '😀'.repeat(100), ' Jo Ann\t', 'Jo\nAnn', 'Jo\u200bAnn'],
  ['', ' ', '\t\n\u0085\u00a0\u2003\u3000\ufeff', 'n'.repeat(101), '😀'.repeat(101), ...NUL_AND_SURROGATES, ...NO_TEXT],
);

bounds(
  'username',
  ['z', 'u'.repeat(50), '😀'.repeat(50), 'José.Ann-77_x', '日本', '"><&'],
  [
    '',
    'u'.repeat(51),
    '😀'.repeat(51),
    ...[' ', '\t', '\n', '\u00a0', '\u1680', '\u2003', '\u2028', '\u202f', '\u3000'].map((space) => `jo${space}ann`),
    ' joann',
    'joann ',
    ...['\u0007', '\u007f', '\u0085', '\u009f'].map((control) => `jo${control}ann`),
    ...['\u00ad', '\u200b', '\u202e', '\u2066', '\ufeff', '\u{e0041}'].map((format) => `jo${format}ann`),
    ...NUL_AND_SURROGATES,
    ...NO_TEXT,
  ],
);

/** An address of this length whose parts are no longer than any may be. */
function addressOf(length: number): string {
  const domain = `${['a', 'b', 'c'].map((letter) => letter.repeat(60)).join('.')}.example`;
  return `${'e'.repeat(length - domain.length - 1)}@${domain}`;
}

bounds(
  'email',
  [
    'z9@b.co',
    addressOf(254),
    `  ${addressOf(253)}\n`,
    'jo.ann+posts@sub.people-1.example',
    "o'neil_{x}@people.example",
  ],
  [
    '',
    ' ',
    addressOf(255),
    'joann',
    'joann@',
    '@people.example',
    'joann@people',
    'jo@ann@people.example',
    'joann@@people.example',
    'jo ann@people.example',
    'jo\u00a0ann@people.example',
    'joann@peo ple.example',
    '"joann"@people.example',
    '"jo ann"@people.example',
    'joann@[127.0.0.1]',
    'joann@127.0.0.1',
    '.joann@people.example',
    'joann.@people.example',
    'jo..ann@people.example',
    'joann@people..example',
    'joann@.example',
    'joann@people.example.',
    'joann@-people.example',
    'joann@people-.example',
    `joann@${'a'.repeat(64)}.example`,
    'jöann@people.example',
    'joann@pëople.example',
    'Jo Ann <joann@people.example>',
    'joann@mailinator.com',
    'joann@sub.MAILINATOR.com',
    ' joann@yopmail.com ',
    'jo\0ann@people.example',
    'joann@people.example\0',
    'jo\ud800ann@people.example',
    ...NO_TEXT,
  ],
);

/** A password that meets the policy, of so many code points. */
const passwordOf = (length: number) =>
  'Quiet-27!'.concat('😀🐚'.repeat(length)).match(new RegExp(`^.{${length}}`, 'u'))?.[0];

bounds(
  'password',
  [passwordOf(12) as string, passwordOf(128) as string, '  Quiet Harbour 27  ', 'Größe-Maß-Ähre-6'],
  [
    passwordOf(11),
    passwordOf(129),
    'QUIET-HARBOUR-27',
    'quiet-harbour-27',
    'Quiet-Harbour-XY',
    'QuietHarbour27',
    'Password123!',
    'Quiet-Harrrbour-27',
    'Quiet-Harbour-1234',
    'Quiet-qwer-27',
    'Quiet-Harbour-27\0',
    'Quiet-Harbour-27\ud800',
    ...NO_TEXT,
  ],
);

t.test('registration: the password holds neither the username nor the local part, in any case and form', async (t) => {
  for (const [username, email, password, problems] of [
    ['mossy1', 'fern1@people.example', 'Quiet-MOSSY1-Harbour', ['body.password']],
    ['ｍossy2', 'fern2@people.example', 'Quiet-Mossy2-Harbour', ['body.password']],
    ['mossy3', 'FERN3@people.example', 'Quiet-Fern3-Harbour', ['body.password']],
    ['mossy4', 'fern4@people.example', 'Mossy4-Quiet-Fern4', ['body.password', 'body.password']],
    ['!', 'fern5@people.example', 'Quiet-Harbour-27!', ['body.password']],
    ['mossy6', 'fern6@people.example', 'People-Example-27', []],
  ] as const) {
    const answer = await register({ username, email, password });
    t.same(problemsOf(answer), problems, password);
    t.equal(answer.status, problems.length > 0 ? 400 : 201);
  }
});

t.test('registration: everything that is wrong with a password is said at once', async (t) => {
  const of = (answer: Answer) => answer.body.errors.map(({ message }: { message: string }) => message);
  const weak = await register({ username: 'moss', email: 'fern@people.example', password: 'mossfernaaaabcd' });
  t.equal(weak.status, 400);
  t.match(of(weak), [/uppercase/, /digit/, /special/, /username/, /before the @/, /three times/, /sequence/]);
  t.equal(weak.body.errors.length, 7);

  const short = await register({ password: 'aaa' });
  t.match(
    of(short),
    [/at least 12/, /uppercase/, /digit/, /special/, /three times/],
    'its length is one thing of many',
  );
  t.equal(short.body.errors.length, 5);
});

t.test('registration: all that is wrong with a request is said at once', async (t) => {
  const answer = await service.ask('POST', '/auth/register?invite=1', {
    json: { name: ' ', username: 'jo ann', email: 'joann@mailinator.com', password: 'quiet-harbour-27', nick: 'jo' },
  });
  t.equal(answer.status, 400);
  t.same(problemsOf(answer).sort(), [
    'body.email',
    'body.name',
    'body.nick',
    'body.password',
    'body.username',
    'query.invite',
  ]);
});

t.test('registration: each of its fields is needed, and no other is known', async (t) => {
  for (const field of ['name', 'username', 'email', 'password']) {
    const { [field]: _, ...rest } = somebody();
    const answer = await service.ask('POST', '/auth/register', { json: rest });
    t.equal(answer.status, 400);
    t.same(problemsOf(answer), [`body.${field}`]);
  }
  for (const field of ['id', 'private', 'is_admin', 'current_password', 'constructor', 'x\ud800']) {
    const answer = await register({ [field]: 'true' });
    t.equal(answer.status, 400, field);
    t.ok(
      problemsOf(answer).every((name) => name === `body.${field.toWellFormed()}`),
      `${field} is named`,
    );
  }
  const body = JSON.stringify(somebody()).replace('{', '{"__proto__":{"private":true},');
  const answer = await service.ask('POST', '/auth/register', { body, headers: { 'Content-Type': 'application/json' } });
  t.equal(answer.status, 400);
  t.same(problemsOf(answer), ['body.__proto__']);
});

for (const [path, fields] of [
  ['/auth/register', ['name', 'username', 'email', 'password']],
  ['/auth/login', ['email', 'password']],
] as const) {
  t.test(`POST ${path} takes a JSON object and nothing else`, async (t) => {
    const missing = fields.map((field) => `body.${field}`);
    for (const [body, type, status, problems] of [
      [undefined, undefined, 400, missing],
      [undefined, 'application/json', 400, missing],
      ['', 'text/plain', 400, missing],
      ['{}', 'application/json', 400, missing],
      ['{}', 'application/json; charset=utf-8', 400, missing],
      ['[]', 'application/json', 400, ['body.']],
      ['null', 'application/json', 400, ['body.']],
      ['"text"', 'application/json', 400, ['body.']],
      ['{"email":', 'application/json', 400, ['body.']],
      ['{"email":"\xff"}', 'application/json', 400, ['body.']],
      ['{}', 'text/plain', 415, []],
      ['{}', undefined, 415, []],
      ['email=a&password=b', 'application/x-www-form-urlencoded', 415, []],
      [`{"password":"${'x'.repeat(70_000)}"}`, 'application/json', 413, []],
    ] as const) {
      const answer = await service.ask('POST', path, {
        ...(body !== undefined && { body: Buffer.from(body, 'latin1') }),
        ...(type !== undefined && { headers: { 'Content-Type': type } }),
      });
      const title = `${String(body).slice(0, 20)} as ${type}`;
      t.equal(answer.status, status, title);
      t.same(problemsOf(answer).sort(), [...problems].sort(), title);
    }
  });
}

t.test('registration: what is stored is what was sent, but for the email', async (t) => {
  const name = '\ufeff Jo\tAnn 😀 ';
  const registered = await register({ name, username: 'Jo.Ann', email: ' \tJo.Ann@People.EXAMPLE\n' });
  t.equal(registered.status, 201);
  t.same(Object.keys(registered.body), ['id']);
  t.equal(cookieOf(registered), undefined, 'registering does not log in');
  const { body } = await login('jo.ann@people.example');
  t.same((await me(body.token)).body, {
    id: registered.body.id,
    name,
    username: 'Jo.Ann',
    email: 'jo.ann@people.example',
  });
  const profile = await service.ask('GET', '/profiles/me', { token: body.token });
  t.equal(profile.body.private, false, 'accounts start public');
  t.equal(profile.body.profile_link, null, 'and without a picture');
});

t.test('registration: a username is taken in every case and Unicode form', async (t) => {
  for (const [taken, ...others] of [
    ['Marten', 'Marten', 'marten', 'MARTEN', 'ｍａｒｔｅｎ', '𝐌arten'],
    ['Zo\u00eb', 'Zoe\u0308', 'ZO\u00cb'],
    ['straße', 'STRASSE', 'stra\u1e9ee'],
    ['\ufb01nch', 'finch', 'FINCH'],
    ['οδος', 'ΟΔΟΣ', 'οδοσ'],
  ]) {
    t.equal((await register({ username: taken })).status, 201, `${taken} is free`);
    for (const username of others) {
      const { status, body } = await register({ username });
      t.equal(status, 409, `${username} is ${taken}`);
      t.type(body.message, 'string');
    }
  }
  t.equal((await register({ username: 'Zoe' })).status, 201, 'an accent makes another name');
});

t.test('registration: an email is taken in every case, white space around it or not', async (t) => {
  const { email } = somebody();
  t.equal((await register({ email })).status, 201);
  for (const again of [email, String(email).toUpperCase(), ` ${email} `]) {
    t.equal((await register({ email: again })).status, 409, String(again));
  }
  t.equal((await register({ email: `x${email}` })).status, 201);
});

t.test('registration: of several at once for one username or email exactly one succeeds', async (t) => {
  for (const shared of [{ username: 'Contested' }, { email: 'contested@people.example' }]) {
    const before = await accounts();
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(shared)));
    t.same(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
    t.equal(await accounts(), before + 1);
  }
});

t.test('login answers whose token it is, and until when', async (t) => {
  const { body } = await register({ email: 'ida@people.example' });
  const before = Math.floor(Date.now() / 1000);
  const answer = await login('ida@people.example');
  const after = Math.floor(Date.now() / 1000);
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.body), ['id', 'token', 'expires_at']);
  t.equal(answer.body.id, body.id);
  t.match(answer.body.expires_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const issued = Date.parse(answer.body.expires_at) / 1000 - 7 * 24 * 60 * 60;
  t.ok(issued >= before && issued <= after, 'seven days');
});

t.test('login sets a cookie that scripts cannot read and that ends with the token', async (t) => {
  await register({ email: 'iris@people.example' });
  const answer = await login('iris@people.example');
  const { expires, ...cookie } = cookieOf(answer) ?? {};
  t.same(cookie, { value: answer.body.token, path: '/', httponly: '', samesite: 'Lax' }, 'not Secure over http');
  t.equal(new Date(expires ?? '').toISOString(), answer.body.expires_at);
});

t.test('login trims and lowercases the email', async (t) => {
  const { body } = await register({ email: 'ivo@people.example' });
  for (const email of ['ivo@people.example', ' \tivo@people.example\n', 'IVO@People.Example']) {
    const answer = await login(email);
    t.equal(answer.status, 200, email);
    t.equal(answer.body.id, body.id);
  }
});

t.test('login takes the password as it is', async (t) => {
  const password = '  Quiet Jos\u00e9 27  ';
  await register({ email: 'ines@people.example', password });
  t.equal((await login('ines@people.example', password)).status, 200);
  for (const other of [password.trim(), `${password} `, password.toLowerCase(), '  Quiet Jose\u0301 27  ', '']) {
    t.equal((await login('ines@people.example', other)).status, 401, JSON.stringify(other));
  }
});

t.test('login fails with one and the same answer, whatever was wrong', async (t) => {
  await register({ email: 'ilse@people.example' });
  const wrong = await login('ilse@people.example', 'Quiet-Harbour-28!');
  t.equal(wrong.status, 401);
  t.same(Object.keys(wrong.body), ['message']);
  t.equal(wrong.headers.get('www-authenticate'), 'Bearer');
  t.equal(cookieOf(wrong), undefined);
  for (const email of [
    'nobody@people.example',
    'joann@mailinator.com',
    'ilse',
    'ilse@people',
    'il se@people.example',
    '@',
    '',
    ' ',
    '😀',
    `${'x'.repeat(300)}@people.example`,
  ]) {
    t.same(saidBy(await login(email)), saidBy(wrong), `address ${show(email)}`);
  }
  for (const password of ['', ' ', 'x', passwordOf(128), '😀'.repeat(128)]) {
    t.same(saidBy(await login('ilse@people.example', password)), saidBy(wrong), `password ${show(password)}`);
  }
});

t.test('a login for an address that nobody has costs a verification too', async (t) => {
  for (const email of ['nobody@people.example', 'ill formed']) {
    let verifying = 0;
    let answered = false;
    const answer = login(email, 'Quiet-Harbour-28!').finally(() => {
      answered = true;
    });
    while (!answered) {
      verifying = Math.max(verifying, hashing().running);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal((await answer).status, 401);
    t.equal(verifying, 1, email);
  }
});

t.test('login takes an email and a password of at most 128 characters, and nothing else', async (t) => {
  const email = 'ilka@people.example';
  await register({ email });
  const ask = (json: unknown, query = '') => service.ask('POST', `/auth/login${query}`, { json });
  for (const [json, ...problems] of [
    [{ email }, 'body.password'],
    [{ password: PASSWORD }, 'body.email'],
    [{ email, password: 'x'.repeat(129) }, 'body.password'],
    [{ email, password: '😀'.repeat(129) }, 'body.password'],
    [{ email: 5, password: null }, 'body.email', 'body.password'],
    [{ email: [email], password: {} }, 'body.email', 'body.password'],
    [{ email: `${email}\0`, password: `${PASSWORD}\0` }, 'body.email', 'body.password'],
    [{ email: `\ud800${email}`, password: `${PASSWORD}\udc00` }, 'body.email', 'body.password'],
    [{ email, password: PASSWORD, username: 'ilka' }, 'body.username'],
    [{ email, password: PASSWORD, remember: true, name: 1 }, 'body.name', 'body.remember'],
  ] as const) {
    const answer = await ask(json);
    t.equal(answer.status, 400, JSON.stringify(json).slice(0, 60));
    t.same(problemsOf(answer).sort(), problems);
  }
  const answer = await ask({ email, password: PASSWORD }, '?next=%2F');
  t.equal(answer.status, 400);
  t.same(problemsOf(answer), ['query.next']);
});

t.test('login replaces a hash that was made with other parameters', async (t) => {
  const email = 'olga@people.example';
  await register({ email });
  const stored = async () =>
    (await db.selectFrom('accounts').select('password_hash').where('email', '=', email).executeTakeFirstOrThrow())
      .password_hash;
  const { token } = (await login(email)).body;
  const current = await stored();
  await login(email);
  t.equal(await stored(), current, 'a hash as it should be stays');

  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await db.updateTable('accounts').set({ password_hash: weak }).where('email', '=', email).execute();
  t.equal((await login(email, 'Quiet-Harbour-28!')).status, 401);
  t.equal(await stored(), weak, 'a wrong password replaces nothing');
  t.equal((await login(email)).status, 200);
  t.match(await stored(), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal((await login(email)).status, 200, 'the password is still the same');
  t.equal((await login(email, 'Quiet-Harbour-28!')).status, 401);
  t.equal((await me(token)).status, 200, 'no session ends by it');
});

t.test('me and verify show the account behind the token', async (t) => {
  const person = await service.person({ name: 'Ada B.', private: true });
  const { id, name, username, email } = person;
  for (const path of ['/auth/me', '/auth/verify']) {
    const { status, body } = await person.ask('GET', path);
    t.equal(status, 200);
    t.same(body, { id, name, username, email }, path);
  }
});

t.test('logout kills the token at once and clears the cookie', async (t) => {
  const person = await service.person();
  const other = await service.login(person.email);
  const answer = await person.ask('POST', '/auth/logout');
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.body), ['message']);
  t.same(cookieOf(answer), CLEARED_COOKIE);
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['GET', '/posts'],
    ['POST', '/auth/logout'],
  ] as const) {
    const { status } = await person.ask(method, path);
    t.equal(status, 401, `${method} ${path}`);
    t.equal((await service.ask(method, path, { headers: { Cookie: `fc_session_token=${person.token}` } })).status, 401);
  }
  t.equal((await me(other)).status, 200, 'other sessions go on');
});

t.test('of two logouts at once one succeeds', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { ask } = await service.person();
    const answers = await Promise.all([ask('POST', '/auth/logout'), ask('POST', '/auth/logout')]);
    t.same(answers.map(({ status }) => status).sort(), [200, 401]);
    for (const answer of answers) {
      t.same(cookieOf(answer), answer.status === 200 ? CLEARED_COOKIE : undefined);
    }
  }
});

t.test('operations that document no input take none', async (t) => {
  const person = await service.person();
  const [session] = (await person.ask('GET', '/auth/sessions')).body;
  const json = { 'Content-Type': 'application/json' };
  for (const [method, path] of [
    ['GET', '/auth/me'],
    ['GET', '/auth/verify'],
    ['GET', '/auth/sessions'],
    ['POST', '/auth/logout'],
    ['DELETE', '/auth/sessions'],
    ['DELETE', `/auth/sessions/${session.id}`],
  ] as const) {
    const expect = async (ask: Promise<Answer>, problem: string) => {
      const answer = await ask;
      t.equal(answer.status, 400, `${method} ${path}: ${problem}`);
      t.same(problemsOf(answer), [problem]);
    };
    await expect(person.ask(method, `${path}?x=1`), 'query.x');
    if (method === 'GET') continue;
    await expect(person.ask(method, path, { body: '{"x":1}', headers: json }), 'body.x');
    await expect(person.ask(method, path, { body: '[]', headers: json }), 'body.');
    await expect(person.ask(method, path, { body: 'x' }), 'body.');
  }
  t.equal((await person.ask('GET', '/auth/me')).status, 200, 'none of them has done anything');
  t.equal((await person.ask('POST', '/auth/logout', { json: {} })).status, 200, '{} holds no field');
});

t.test('no password and no token is logged', async (t) => {
  const person = await service.person();
  await login(person.email, 'Quiet-Harbour-28!');
  await me(person.token);
  await me(`${person.token}x`);
  const log = service.logged();
  t.match(log, /"route":"\/auth\/login"/, 'the requests are');
  for (const secret of [PASSWORD, 'Quiet-Harbour-28!', person.token, person.token.split('.')[2], '$argon2id$']) {
    t.notOk(log.includes(secret as string));
  }
});
