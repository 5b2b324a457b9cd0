import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import t from 'tap';
import { purgeExpiredSessions } from '../db/sessions.js';
import { CLEARED_COOKIE, cookieOf, PASSWORD, type Person, startTestService } from './harness.js';

const service = await startTestService(t);
const { db } = service.stores;

const NEW_PASSWORD = 'Amber-Lighthouse-58?';

interface Session {
  id: string;
  device_name: string;
  created_at: string;
  last_used_at: string;
  current: boolean;
}

const me = async (token: string) => (await service.ask('GET', '/auth/me', { token })).status;
const sessionsOf = async (token: string): Promise<Session[]> =>
  (await service.ask('GET', '/auth/sessions', { token })).body;
const currentOf = async (token: string): Promise<string> =>
  (await sessionsOf(token)).find(({ current }) => current)?.id ?? '';

const change = (id: string, values: { last_used_at?: Date; expires_at?: Date }) =>
  db.updateTable('sessions').set(values).where('id', '=', id).execute();
const rowsOf = ({ id }: { id: number }) =>
  db.selectFrom('sessions').select(['id', 'last_used_at']).where('account_id', '=', id).execute();
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Logs in with these headers alone: `fetch` would add a `User-Agent` of its own. */
async function loginFrom(email: string, headers: OutgoingHttpHeaders): Promise<string> {
  const login = request(`${service.url}/auth/login`, { method: 'POST', agent: false });
  login.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(headers)) login.setHeader(name, value ?? '');
  // As bytes: Node would send the headers in the encoding of a string that follows them.
  login.end(Buffer.from(JSON.stringify({ email, password: PASSWORD })));
  const [response] = (await once(login, 'response')) as [IncomingMessage];
  return JSON.parse((await response.toArray()).join('')).token;
}

const changePassword = (person: Person, password = NEW_PASSWORD) =>
  person.ask('PUT', '/profiles/me', { form: { password, current_password: PASSWORD } });

t.test('each login is a session of its own, with a token of its own', async (t) => {
  const person = await service.person();
  const tokens = [person.token, await service.login(person.email), await service.login(person.email)];
  t.equal(new Set(tokens).size, 3);
  for (const token of tokens) {
    const sessions = await sessionsOf(token);
    t.equal(new Set(sessions.map(({ id }) => id)).size, 3);
    const current = sessions.filter((session) => session.current);
    t.equal(current.length, 1);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    t.equal(current[0]?.id, claims.jti, 'the current one is the one whose token asks');
  }
});

t.test('a session shows its device and its times, and nothing else', async (t) => {
  const before = Date.now();
  const person = await service.person();
  const [session] = await sessionsOf(person.token);
  t.same(Object.keys(session ?? {}), ['id', 'device_name', 'created_at', 'last_used_at', 'current']);
  for (const time of [session?.created_at, session?.last_used_at]) {
    t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.ok(Date.parse(time ?? '') >= before && Date.parse(time ?? '') <= Date.now());
  }
});

t.test('a session is named after its User-Agent', async (t) => {
  const person = await service.person();
  for (const [name, headers] of [
    ['PostingApp/2.3 (Android 16)', { 'User-Agent': 'PostingApp/2.3 (Android 16)' }],
    ['Trimmed', { 'User-Agent': ' \u00a0 Trimmed \t' }],
    ['NoControlCharacters', { 'User-Agent': 'No\tControl\u0085Char\u009facters' }],
    ['d'.repeat(255), { 'User-Agent': 'd'.repeat(256) }],
    ['<script>"&', { 'User-Agent': '<script>"&' }],
    ['Unknown device', { 'User-Agent': '' }],
    ['Unknown device', { 'User-Agent': ' \u0085 ' }],
    ['Unknown device', {}],
  ] as const) {
    const token = await loginFrom(person.email, headers);
    const session = (await sessionsOf(token)).find(({ current }) => current);
    t.equal(session?.device_name, name);
  }
});

t.test('sessions are listed last used first, the one that asks at the top', async (t) => {
  const person = await service.person();
  const [second, third, fourth] = [
    await currentOf(await service.login(person.email)),
    await currentOf(await service.login(person.email)),
    await currentOf(await service.login(person.email)),
  ] as [string, string, string];
  const current = await currentOf(person.token);
  await change(third, { last_used_at: secondsAgo(10) });
  await change(fourth, { last_used_at: secondsAgo(20) });
  await change(current, { last_used_at: secondsAgo(30) });
  await change(second, { last_used_at: secondsAgo(5000) });
  const sessions = await sessionsOf(person.token);
  t.same(
    sessions.map(({ id }) => id),
    [current, third, fourth, second],
  );
  const times = sessions.map(({ last_used_at }) => last_used_at);
  t.same(times, [...times].sort().reverse(), 'and the times that they show say so');
});

t.test('last_used_at is written when it lags by more than a minute, and not before', async (t) => {
  const person = await service.person();
  const [{ id } = { id: '' }] = await rowsOf(person);
  for (const [lag, written] of [
    [50, false],
    [70, true],
  ] as const) {
    const then = secondsAgo(lag);
    await change(id, { last_used_at: then });
    await person.ask('GET', '/auth/me');
    const [row] = await rowsOf(person);
    t.equal(Date.parse(row?.last_used_at ?? '') > Number(then), written, `${lag} seconds`);
  }
  const other = await service.login(person.email);
  await change(id, { last_used_at: secondsAgo(50) });
  await person.ask('GET', '/auth/me');
  const shown = (await sessionsOf(other)).find((session) => session.id === id);
  t.ok(Date.now() - Date.parse(shown?.last_used_at ?? '') < 65_000, 'another session sees it lag by a minute at most');
});

t.test('an expired session is not listed, its token is refused, and in the end it is purged', async (t) => {
  const person = await service.person();
  const expired = await service.login(person.email);
  const id = await currentOf(expired);
  await change(id, { expires_at: secondsAgo(1) });
  t.same(
    (await sessionsOf(person.token)).map((session) => session.id),
    [await currentOf(person.token)],
  );
  t.equal(await me(expired), 401);
  await purgeExpiredSessions(db);
  t.same(
    (await rowsOf(person)).map((row) => row.id),
    [await currentOf(person.token)],
  );
  t.equal(await me(person.token), 200);
});

t.test('all other sessions are ended at once, and nobody else’s', async (t) => {
  const person = await service.person();
  const stranger = await service.person();
  const others = [await service.login(person.email), await service.login(person.email)];
  const answer = await person.ask('DELETE', '/auth/sessions');
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.body), ['message']);
  t.equal(cookieOf(answer), undefined, 'the current session goes on');
  for (const token of others) t.equal(await me(token), 401);
  t.equal(await me(person.token), 200);
  t.equal(await me(stranger.token), 200);
  t.equal((await sessionsOf(person.token)).length, 1);
  t.equal((await person.ask('DELETE', '/auth/sessions')).status, 200, 'ending none is no error');
});

t.test('another session of one’s own can be ended', async (t) => {
  const person = await service.person();
  const other = await service.login(person.email);
  const third = await service.login(person.email);
  const id = await currentOf(other);
  const answer = await person.ask('DELETE', `/auth/sessions/${id}`);
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.body), ['message']);
  t.equal(cookieOf(answer), undefined, 'the current session goes on');
  t.equal(await me(other), 401);
  t.equal(await me(person.token), 200);
  t.equal(await me(third), 200);
  t.equal((await person.ask('DELETE', `/auth/sessions/${id}`)).status, 404, 'it is gone');
});

t.test('ending the session that asks clears its cookie', async (t) => {
  const person = await service.person();
  const answer = await person.ask('DELETE', `/auth/sessions/${await currentOf(person.token)}`);
  t.equal(answer.status, 200);
  t.same(cookieOf(answer), CLEARED_COOKIE);
  t.equal(await me(person.token), 401);
});

t.test('what is no session of the caller’s is not found, whatever its shape', async (t) => {
  const person = await service.person();
  const stranger = await service.person();
  const theirs = await currentOf(stranger.token);
  const own = await currentOf(person.token);
  const { body } = await person.ask('DELETE', '/auth/sessions/00000000-0000-4000-8000-000000000000');
  for (const id of [
    theirs,
    'x',
    '0',
    '%00',
    `${own}%00`,
    '%F0%9F%98%80',
    '..%2f..',
    '%27%20or%20true--',
    own.toUpperCase(),
    `${own}%20`,
    'x'.repeat(5000),
  ]) {
    const answer = await person.ask('DELETE', `/auth/sessions/${id}`);
    t.equal(answer.status, 404, id.slice(0, 40));
    t.equal(cookieOf(answer), undefined);
    if (id === theirs) t.same(answer.body, body, 'another’s session is like none');
  }
  t.equal((await person.ask('DELETE', '/auth/sessions/%ff')).status, 400, 'an address that cannot be decoded');
  t.equal(await me(stranger.token), 200);
  t.equal(await me(person.token), 200);
});

t.test('a password change ends every session of the account, and nobody else’s', async (t) => {
  const person = await service.person();
  const stranger = await service.person();
  const others = [await service.login(person.email), await service.login(person.email)];
  const answer = await changePassword(person);
  t.equal(answer.status, 200);
  t.same(cookieOf(answer), CLEARED_COOKIE);
  for (const token of [person.token, ...others]) t.equal(await me(token), 401);
  t.same(await rowsOf(person), []);
  t.equal(await me(stranger.token), 200);

  const login = (password: string) => service.ask('POST', '/auth/login', { json: { email: person.email, password } });
  t.equal((await login(PASSWORD)).status, 401, 'the old password is no more');
  const { body } = await login(NEW_PASSWORD);
  t.equal(await me(body.token), 200, 'the new one is');
});

t.test('a login that crosses a password change does not survive it', async (t) => {
  const person = await service.person();
  let changed = false;
  const tokens: string[] = [];
  const statuses = new Set<number>();
  const keepLoggingIn = async () => {
    while (!changed) {
      const json = { email: person.email, password: PASSWORD };
      const { status, body } = await service.ask('POST', '/auth/login', { json });
      statuses.add(status);
      if (status === 200) tokens.push(body.token);
    }
  };
  const [answer] = await Promise.all([
    changePassword(person).finally(() => {
      changed = true;
    }),
    ...Array.from({ length: 6 }, keepLoggingIn),
  ]);
  t.equal(answer.status, 200);
  t.ok(tokens.length > 0, 'some logins came before');
  t.ok(statuses.has(401), 'and some too late');
  for (const token of tokens) t.equal(await me(token), 401);
  t.same(await rowsOf(person), [], 'no session is left');
});

t.test('a login that crosses the end of its account leaves no session', async (t) => {
  const person = await service.person();
  let deleted = false;
  const statuses = new Set<number>();
  const keepLoggingIn = async () => {
    while (!deleted) {
      const json = { email: person.email, password: PASSWORD };
      statuses.add((await service.ask('POST', '/auth/login', { json })).status);
    }
  };
  const [answer] = await Promise.all([
    person.ask('DELETE', '/profiles/me', { json: { password: PASSWORD } }).finally(() => {
      deleted = true;
    }),
    ...Array.from({ length: 6 }, keepLoggingIn),
  ]);
  t.equal(answer.status, 200);
  t.ok(
    [...statuses].every((status) => status === 200 || status === 401),
    'each has logged in before, or been refused',
  );
  t.same(await rowsOf(person), []);
});

t.test('of two password changes at once with one current password only one succeeds', async (t) => {
  const person = await service.person();
  const passwords = [NEW_PASSWORD, `${NEW_PASSWORD}!`];
  const answers = await Promise.all(passwords.map((password) => changePassword(person, password)));
  t.same(answers.map(({ status }) => status).sort(), [200, 401]);
  for (const [index, password] of passwords.entries()) {
    const login = await service.ask('POST', '/auth/login', { json: { email: person.email, password } });
    t.equal(login.status, answers[index]?.status, 'the one that was told so can log in');
  }
});
