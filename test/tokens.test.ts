import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import t from 'tap';
import { createTokens } from '../handlers/tokens.js';
import { type Answer, CLEARED_COOKIE, cookieOf, PASSWORD, startTestService } from './harness.js';
import { freshDataDirectory } from './stores.js';

const ONE = 'the first secret of this test file';
const TWO = 'the second secret of this test file';
const TTL = 3600;

const service = await startTestService(t, {
  TOKEN_KEYS: `one:${ONE},two:${TWO}`,
  TOKEN_TTL: String(TTL),
  PUBLIC_URL: 'https://social.example',
});
const person = await service.person();
const stranger = await service.person();
const claims = decodeJwt(person.token);
const now = Math.floor(Date.now() / 1000);

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token of these claims, signed as asked, good or bad. */
function forge(
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  [secret, hash]: [secret: string, hash: string] = [ONE, 'sha256'],
): string {
  const signed = `${encode({ alg: 'HS256', kid: 'one', typ: 'JWT', ...header })}.${encode({ ...claims, ...changes })}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}

const me = (headers: Record<string, string>) => service.ask('GET', '/auth/me', { headers });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const cookie = (token: string) => ({ Cookie: `fc_session_token=${token}` });

function isRefused(answer: Answer): boolean {
  return (
    answer.status === 401 &&
    answer.headers.get('www-authenticate') === 'Bearer' &&
    typeof answer.body.message === 'string' &&
    cookieOf(answer) === undefined
  );
}

t.test(
  'a token names its account, its session and its account’s version, and is signed by the first key',
  async (t) => {
    const login = await service.ask('POST', '/auth/login', { json: { email: person.email, password: PASSWORD } });
    const { token, expires_at } = login.body;
    t.same(decodeProtectedHeader(token), { alg: 'HS256', kid: 'one', typ: 'JWT' });
    const { sub, jti, tvr, iat, exp, iss, aud, ...rest } = decodeJwt<JWTPayload & { tvr: number }>(token);
    t.same(rest, {}, 'and says nothing else');
    t.equal(sub, String(person.id));
    const sessions = await service.ask('GET', '/auth/sessions', { token });
    t.equal(jti, sessions.body.find(({ current }: { current: boolean }) => current).id);
    t.equal(tvr, 1);
    t.equal(iss, 'social-posting-service');
    t.equal(aud, 'social-posting-service');
    t.equal(new Date((exp ?? 0) * 1000).toISOString(), expires_at);
    t.ok(Math.abs((exp ?? 0) - (iat ?? 0) - TTL) <= 1, 'it lasts as long as TOKEN_TTL says');
    t.ok(Math.abs((iat ?? 0) - Date.now() / 1000) < 10);
    const row = await service.stores.db
      .selectFrom('sessions')
      .select('expires_at')
      .where('id', '=', jti ?? '')
      .executeTakeFirstOrThrow();
    t.equal(row.expires_at, expires_at, 'its session ends with it');
  },
);

t.test('the cookie is Secure when the service is reached over https, set and cleared', async (t) => {
  const login = await service.ask('POST', '/auth/login', { json: { email: person.email, password: PASSWORD } });
  const { expires, ...rest } = cookieOf(login) ?? {};
  t.same(rest, { value: login.body.token, path: '/', httponly: '', samesite: 'Lax', secure: '' });
  t.equal(new Date(expires ?? '').toISOString(), login.body.expires_at);
  const logout = await service.ask('POST', '/auth/logout', { token: login.body.token });
  t.same(cookieOf(logout), { ...CLEARED_COOKIE, secure: '' });
});

t.test('a token is taken from the header or from the cookie', async (t) => {
  for (const headers of [
    { Authorization: `Bearer ${person.token}` },
    { Authorization: `bearer ${person.token}` },
    { Authorization: `BEARER   ${person.token}` },
    { Cookie: `fc_session_token=${person.token}` },
    { Cookie: `theme=dark; fc_session_token=${person.token}; other=1` },
  ]) {
    const answer = await me(headers as Record<string, string>);
    t.equal(answer.status, 200, JSON.stringify(headers).slice(0, 30));
    t.equal(answer.body.id, person.id);
  }
});

t.test('a good header is enough, whatever the cookie, and decides who asks', async (t) => {
  for (const other of ['', 'x', forge({ exp: now - 10 }), stranger.token]) {
    const answer = await me({ ...bearer(person.token), ...cookie(other) });
    t.equal(answer.status, 200);
    t.equal(answer.body.id, person.id);
  }
});

t.test('missing and malformed credentials are refused, and no cookie rescues a bad header', async (t) => {
  const { token } = person;
  t.ok(isRefused(await me({})), 'nothing');
  for (const other of ['', 'x', `${token}x`, `Bearer ${token}`]) {
    t.ok(isRefused(await me(cookie(other))), `cookie ${other.slice(0, 10)}`);
  }
  t.ok(isRefused(await me({ Cookie: `token=${token}; FC_SESSION_TOKEN=${token}` })), 'cookies of other names');
  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    token,
    `Basic ${Buffer.from(`${person.email}:${PASSWORD}`).toString('base64')}`,
    `Basic ${token}`,
    `Token ${token}`,
    `Bearer${token}`,
    `Bearer:${token}`,
    `Bearer\t${token}`,
    `Bearer "${token}"`,
    `Bearer ${token} x`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer token=${token}`,
    `Bearer ${'x'.repeat(8000)}`,
  ]) {
    t.ok(isRefused(await me({ Authorization: header })), `header ${header.slice(0, 12)}`);
    t.ok(
      isRefused(await me({ Authorization: header, ...cookie(token) })),
      `header ${header.slice(0, 12)}, good cookie`,
    );
  }
});

t.test('only a token that we have signed, for us, and that is still good is taken', async (t) => {
  t.equal((await me(bearer(forge()))).status, 200, 'the same claims, signed alike');
  t.equal((await me(bearer(forge({}, { kid: 'two' }, [TWO, 'sha256'])))).status, 200, 'signed by the second key');

  const [header, payload, signature] = person.token.split('.') as [string, string, string];
  const { jti: theirSession, sub: theirId } = decodeJwt(stranger.token);
  const unsigned = `${encode({ alg: 'none', kid: 'one' })}.${payload}.`;
  const bad: Record<string, string> = {
    expired: forge({ exp: now - 1 }),
    'not yet good': forge({ nbf: now + 600 }),
    'an unknown key': forge({}, { kid: 'three' }),
    'no key named': forge({}, { kid: undefined }),
    'a key named as an object would have it': forge({}, { kid: '__proto__' }),
    'another key than the one named': forge({}, { kid: 'one' }, [TWO, 'sha256']),
    'a key that is not ours': forge({}, {}, ['a secret that somebody has made up', 'sha256']),
    'the empty key': forge({}, {}, ['', 'sha256']),
    'another algorithm': forge({}, { alg: 'HS512' }, [ONE, 'sha512']),
    'an algorithm that its signature is not of': forge({}, { alg: 'HS384' }),
    'no algorithm': unsigned,
    'no algorithm, with a signature': `${unsigned}${signature}`,
    'an algorithm of public keys': forge({}, { alg: 'RS256' }),
    'critical headers that we do not know': forge({}, { crit: ['x'], x: 1 }),
    'claims changed after it was signed': `${header}.${encode({ ...claims, sub: theirId })}.${signature}`,
    'a header changed after it was signed': `${encode({ alg: 'HS256', kid: 'one' })}.${payload}.${signature}`,
    'a signature cut short': person.token.slice(0, -4),
    'no signature': `${header}.${payload}.`,
    'two parts': `${header}.${payload}`,
    'claims that are no object': `${header}.${Buffer.from('[]').toString('base64url')}.${signature}`,
    'another issuer': forge({ iss: 'somebody-else' }),
    'another audience': forge({ aud: 'somebody-else' }),
    'an older version of its account': forge({ tvr: 0 }),
    'a newer version of its account': forge({ tvr: 2 }),
    'a version that is text': forge({ tvr: '1' }),
    'a session that never was': forge({ jti: '00000000-0000-4000-8000-000000000000' }),
    'another’s session': forge({ jti: theirSession }),
    'another’s account': forge({ sub: theirId }),
    'an account that is no number': forge({ sub: 'me' }),
    ...Object.fromEntries(
      ['sub', 'jti', 'tvr', 'iat', 'exp', 'iss', 'aud'].map((claim) => [`no ${claim}`, forge({ [claim]: undefined })]),
    ),
  };
  for (const [title, token] of Object.entries(bad)) {
    t.ok(isRefused(await me(bearer(token))), title);
    t.ok(isRefused(await me(cookie(token))), `${title}, in the cookie`);
    t.ok(isRefused(await me({ ...bearer(token), ...cookie(person.token) })), `${title}, with a good cookie`);
  }
});

t.test('a token that has been good before is good until it expires, and no longer', async (t) => {
  const tokens = createTokens([{ id: 'one', secret: ONE }]);
  const expires = new Date(Math.floor(Date.now() / 1000 + 60) * 1000);
  const said = { accountId: 7, sessionId: 'a-session', tokenVersion: 3 };
  const token = await tokens.issue(said, expires);
  t.same(await tokens.verify(token), said);
  let time = expires.getTime() - 1;
  t.intercept(Date, 'now', { value: () => time });
  t.same(await tokens.verify(token), said);
  time += 1;
  t.equal(await tokens.verify(token), undefined);
  t.equal(await tokens.verify(`${token}x`), undefined, 'nor is what only begins like it');
});

t.test('every refusal of credentials says the same', async (t) => {
  const { body } = await me({});
  for (const headers of [bearer('x'), bearer(forge({ exp: now - 1 })), bearer(forge({ tvr: 0 })), cookie('x')]) {
    t.same((await me(headers)).body, body);
  }
});

t.test('a token of an older password is refused even where its session is still there', async (t) => {
  const { ask, id } = await service.person();
  const { db } = service.stores;
  await db.updateTable('accounts').set({ token_version: 2 }).where('id', '=', id).execute();
  t.ok(isRefused(await ask('GET', '/auth/me')));
  await db.updateTable('accounts').set({ token_version: 1 }).where('id', '=', id).execute();
  t.equal((await ask('GET', '/auth/me')).status, 200);
});

t.test('the cookie alone does all that the header does', async (t) => {
  const { token, id } = await service.person();
  const headers = cookie(token);
  t.equal((await service.ask('GET', '/profiles/me', { headers })).body.id, id);
  const form = { name: 'By Cookie' };
  t.equal((await service.ask('PUT', '/profiles/me', { headers, form })).body.name, 'By Cookie');
  const answer = await service.ask('POST', '/auth/logout', { headers });
  t.equal(answer.status, 200);
  t.ok(isRefused(await me(headers)));
});

t.test('keys are kept over a restart and can be exchanged one after the other', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const keysFile = join(DATA_DIR, 'token-keys');
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;

  const first = await startTestService(t, { DATA_DIR });
  const { token, email } = await first.person();
  const made = (await readFile(keysFile, 'utf8')).trim();
  t.match(made, /^[\w-]+:.{32,}$/, 'a key is made where none is given');
  t.equal(kidOf(token), made.split(':')[0]);
  t.equal((await stat(keysFile)).mode & 0o777, 0o600, 'for its owner alone');
  t.notOk(first.logged().includes(made.split(':')[1] ?? made), 'and not logged');
  await first.stop();

  const second = await startTestService(t, { DATA_DIR });
  t.equal((await second.ask('GET', '/auth/me', { token })).status, 200, 'the key is kept');
  t.equal((await readFile(keysFile, 'utf8')).trim(), made);
  await second.stop();

  const third = await startTestService(t, { DATA_DIR, TOKEN_KEYS: `two:${TWO},${made}` });
  t.equal((await third.ask('GET', '/auth/me', { token })).status, 200, 'the second key still verifies');
  const newer = await third.login(email);
  t.equal(kidOf(newer), 'two', 'the first key signs');
  await third.stop();

  const fourth = await startTestService(t, { DATA_DIR, TOKEN_KEYS: `two:${TWO}` });
  t.equal((await fourth.ask('GET', '/auth/me', { token })).status, 401, 'a key that is removed verifies no more');
  t.equal((await fourth.ask('GET', '/auth/me', { token: newer })).status, 200);
});
