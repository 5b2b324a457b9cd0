import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import t from 'tap';
import { parseTokenKeys } from '../handlers/config/variables.js';
import { readOrCreateTokenKeys } from '../handlers/security/token-keys.js';
import { createTokens } from '../handlers/security/tokens.js';
import { createSender, sessionCookieOf } from './support/http.js';
import { PASSWORD, startTestService } from './support/service.js';

const ONE = '9f2c61d07ab84e35b1d6c8f04e7a2953d8b60c1f';
const TWO = 'uT4mPq9Zr2Lx7Vb1Ns6Kc3Hd8Jf5Gw0Ya1Ee4R';
const TTL_SECONDS = 3600;

const service = await startTestService(t, {
  TOKEN_KEYS: `one:${ONE},two:${TWO}`,
  TOKEN_TTL: String(TTL_SECONDS),
  PUBLIC_URL: 'https://social.example',
});
const { db } = service.stores;
const user = await service.createUser();
const stranger = await service.createUser();
const claims = decodeJwt(user.token);
const now = Math.floor(Date.now() / 1000);

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns the user's token with these claims changed, signed as by the service unless a header or a key is given. */
function forge(
  changes: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  [secret, hash]: [secret: string, hash: string] = [ONE, 'sha256'],
): string {
  const signed = `${encode({ alg: 'HS256', kid: 'one', typ: 'JWT', ...header })}.${encode({ ...claims, ...changes })}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}

const me = (token: string) => service.send('GET', '/auth/me', { token });

t.test('a token is signed by the first key and ends with its session, after TOKEN_TTL', async (t) => {
  const token = await service.login(user.email);
  t.same(decodeProtectedHeader(token), { alg: 'HS256', kid: 'one', typ: 'JWT' });
  const { jti = '', tvr, iat = 0, exp = 0, iss, aud } = decodeJwt<JWTPayload & { tvr: number }>(token);
  t.same({ tvr, iss, aud }, { tvr: 1, iss: 'social-posting-service', aud: 'social-posting-service' });
  t.ok(Math.abs(exp - iat - TTL_SECONDS) <= 1);
  t.ok(Math.abs(iat - Date.now() / 1000) < 10);
  const session = await db.selectFrom('sessions').selectAll().where('id', '=', jti).executeTakeFirst();
  t.equal(session?.expires_at, new Date(exp * 1000).toISOString());
  t.notOk(service.logged().includes(ONE), 'no key is logged');
});

t.test('the cookie is Secure if clients reach the service over https', async (t) => {
  const behindProxy = await startTestService(t, { TRUST_PROXY: '127.0.0.1' });
  for (const [what, secure, target, proto, localAddress] of [
    ['a trusted proxy says https', true, behindProxy, 'https'],
    ['a trusted proxy says HTTPS', true, behindProxy, 'HTTPS'],
    ['a trusted proxy says http', false, behindProxy, 'http'],
    ['a trusted proxy appends http to the header of its client', false, behindProxy, 'https, http'],
    ['a trusted proxy sends no header', false, behindProxy, undefined],
    ['an address that is not trusted says https', false, behindProxy, 'https', '127.0.0.2'],
    ['PUBLIC_URL is https', true, service, undefined],
  ] as const) {
    const send = createSender(t, target.url);
    const options = { headers: proto ? { 'X-Forwarded-Proto': proto } : {}, localAddress };
    const { token, email } = await target.createUser();
    const login = await send('POST', '/auth/login', { json: { email, password: PASSWORD }, ...options });
    const logout = await send('POST', '/auth/logout', { token, ...options });
    for (const response of [login, logout]) t.equal(sessionCookieOf(response)?.secure ?? false, secure, what);
  }
});

t.test('accepts only unexpired tokens that a key of the service has signed for their session', async (t) => {
  t.equal((await me(forge())).status, 200, 'the same claims, signed in the same way');
  t.equal((await me(forge({}, { kid: 'two' }, [TWO, 'sha256']))).status, 200, 'signed by the second key');

  const { jti: theirSession, sub: theirId } = decodeJwt(stranger.token);
  const invalidTokens: Record<string, string> = {
    expired: forge({ exp: now - 1 }),
    'not yet valid': forge({ nbf: now + 600 }),
    'an unknown key': forge({}, { kid: 'three' }),
    'no key named': forge({}, { kid: undefined }),
    'a key named like a property of every object': forge({}, { kid: '__proto__' }),
    'another key than the one named': forge({}, { kid: 'one' }, [TWO, 'sha256']),
    'a key that is not the service’s': forge({}, {}, ['a secret that an attacker has made up', 'sha256']),
    'the empty key': forge({}, {}, ['', 'sha256']),
    'another algorithm': forge({}, { alg: 'HS512' }, [ONE, 'sha512']),
    'an algorithm other than the signature’s': forge({}, { alg: 'HS384' }),
    'an algorithm with public keys': forge({}, { alg: 'RS256' }),
    'unknown critical headers': forge({}, { crit: ['x'], x: 1 }),
    'another issuer': forge({ iss: 'another-service' }),
    'another audience': forge({ aud: 'another-service' }),
    'an older version of its account': forge({ tvr: 0 }),
    'a newer version of its account': forge({ tvr: 2 }),
    'a version that is text': forge({ tvr: '1' }),
    'a session that does not exist': forge({ jti: '00000000-0000-4000-8000-000000000000' }),
    'another user’s session': forge({ jti: theirSession }),
    'another user’s account': forge({ sub: theirId }),
    'an account that is not a number': forge({ sub: 'me' }),
    ...Object.fromEntries(
      ['sub', 'jti', 'tvr', 'iat', 'exp', 'iss', 'aud'].map((claim) => [`no ${claim}`, forge({ [claim]: undefined })]),
    ),
  };
  const { body } = await service.send('GET', '/auth/me', { token: 'no token' });
  for (const [title, token] of Object.entries(invalidTokens)) {
    const response = await me(token);
    t.equal(response.status, 401, title);
    t.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
    t.same(response.body, body);
  }
});

t.test('an accepted token remains accepted only until it expires', async (t) => {
  const tokens = createTokens([{ id: 'one', secret: ONE }]);
  const expires = new Date(Math.floor(Date.now() / 1000 + 60) * 1000);
  const issued = { accountId: 7, sessionId: 'a-session', tokenVersion: 3 };
  const token = await tokens.issue(issued, expires);
  t.same(await tokens.verify(token), issued);
  let time = expires.getTime() - 1;
  t.intercept(Date, 'now', { value: () => time });
  t.same(await tokens.verify(token), issued);
  time += 1;
  t.equal(await tokens.verify(token), undefined);
  t.equal(await tokens.verify(`${token}x`), undefined, 'a longer token with the same prefix is invalid');
});

t.test('a generated key is readable only by its owner, and can be replaced without a logout', async (t) => {
  const path = join(t.testdir(), 'token-keys');
  const [generated] = await readOrCreateTokenKeys(path);
  t.same(await readOrCreateTokenKeys(path), [generated], 'the next start reads it');
  t.equal((await stat(path)).mode & 0o777, 0o600);
  const line = (await readFile(path, 'utf8')).trim();
  t.match(line, /^[\w-]+:.{32,}$/);

  const expires = new Date((now + 60) * 1000);
  const issued = { accountId: 7, sessionId: 'a-session', tokenVersion: 3 };
  const old = await createTokens([generated]).issue(issued, expires);
  const both = createTokens(parseTokenKeys(`two:${TWO},${line}`));
  const later = createTokens(parseTokenKeys(`two:${TWO}`));
  t.same(await both.verify(old), issued, 'the second key still verifies');
  t.equal(await later.verify(old), undefined, 'a removed key no longer verifies');
  t.same(await later.verify(await both.issue(issued, expires)), issued, 'the first key signs');
});

t.test('the error of a damaged key file names the file', async (t) => {
  const directory = t.testdir({ 'token-keys': 'one:short' });
  await t.rejects(readOrCreateTokenKeys(join(directory, 'token-keys')), {
    code: 'invalid_config',
    message: /\/token-keys: the secret of key 1 is shorter/,
  });
});
