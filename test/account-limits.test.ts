import { setImmediate as nextIteration } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import t from 'tap';
import { hashQueue } from '../handlers/security/password-hashing.js';
import { createAdmin } from './support/admin.js';
import type { TestResponse } from './support/http.js';
import { parseLog } from './support/processes.js';
import { scrape } from './support/prometheus.js';
import { NEW_PASSWORD, PASSWORD, startTestService, WRONG_PASSWORD } from './support/service.js';
import { registerWith } from './support/users.js';

const LIMIT = 3;
const service = await startTestService(t, {
  ACCOUNT_SESSIONS_MAX: String(LIMIT),
  ACCOUNT_FAILED_PASSWORDS_MAX: String(LIMIT),
});
const { db } = service.stores;

const login = (email: string, password: string) => service.send('POST', '/auth/login', { json: { email, password } });
const update = (token: string, form: Record<string, string>) => service.send('PUT', '/profiles/me', { token, form });
const deleteAccount = (token: string, password: string) =>
  service.send('DELETE', '/profiles/me', { token, json: { password } });
const hasSession = async (token: string) => (await service.send('GET', '/auth/me', { token })).status === 200;
const sessionIdOf = (token: string) => String(decodeJwt(token).jti);
const changeSession = (token: string, values: { last_used_at?: Date; expires_at?: Date }) =>
  db.updateTable('sessions').set(values).where('id', '=', sessionIdOf(token)).execute();

/** Returns the security events logged so far, without fields that differ between runs. */
const events = () =>
  parseLog(service.logged())
    .filter(({ msg }) => msg === 'security event')
    .map(({ level, time, pid, reqId, msg, ...event }) => event);

/** Awaits the result of some work. Also returns the maximum number of password hashes that were computed at the same time. */
async function watchHashes<Result>(work: Promise<Result>): Promise<{ result: Result; maxRunning: number }> {
  let maxRunning = 0;
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    maxRunning = Math.max(maxRunning, hashQueue.usage.running);
    await nextIteration();
  }
  return { result: await settled, maxRunning };
}

const statusesOf = (responses: readonly TestResponse[]) => responses.map(({ status }) => status).sort();

t.test('failed passwords', async (t) => {
  const expectLocked = async (response: TestResponse, what: string) => {
    t.equal(response.status, 429, what);
    t.same(response.body, {
      code: 'too_many_failed_passwords',
      message: 'Too many failed passwords. Try again later.',
    });
    const seconds = Number(response.headers.get('retry-after'));
    t.ok(seconds > 3500 && seconds <= 3600, `${seconds} seconds`);
    t.ok(response.headers.has('x-ratelimit-limit'), 'the response also has the rate limit headers');
  };

  t.test('login, profile update and account deletion share a count, and are locked together', async (t) => {
    const { send, token, email } = await service.createUser();
    t.equal((await login(email, WRONG_PASSWORD)).status, 401);
    t.equal((await update(token, { current_password: WRONG_PASSWORD, name: 'x' })).status, 401);
    t.equal((await login(email, PASSWORD)).status, 200, 'a success does not reset the count');
    t.equal((await deleteAccount(token, WRONG_PASSWORD)).status, 401);
    await expectLocked(await login(email, WRONG_PASSWORD), 'login');
    await expectLocked(await login(email, PASSWORD), 'login with the right password');
    await expectLocked(await update(token, { current_password: PASSWORD, name: 'x' }), 'update');
    await expectLocked(await deleteAccount(token, PASSWORD), 'deletion');
    t.equal((await send('GET', '/auth/me')).status, 200, 'sessions continue');
    t.equal((await update(token, { name: 'x' })).status, 200, 'an update without a password succeeds');
    const other = await service.createUser();
    t.equal((await login(other.email, PASSWORD)).status, 200, 'other accounts are not affected');
  });

  t.test('failed passwords for an unknown email address take as long, and are limited in the same way', async (t) => {
    for (const email of ['nobody@people.example', 'ill formed', `${'x'.repeat(300)}@people.example`]) {
      for (let attempt = 0; attempt < LIMIT; attempt++) {
        const { result, maxRunning } = await watchHashes(login(email, WRONG_PASSWORD));
        t.same([result.status, maxRunning], [401, 1]);
      }
      await expectLocked(await login(` ${email.toUpperCase()} `, WRONG_PASSWORD), email.slice(0, 30));
    }
  });

  t.test('failed passwords count for an account whether or not it is disabled', async (t) => {
    const { id, email } = await service.createUser();
    const { act } = createAdmin(service.context);
    t.equal((await login(email, WRONG_PASSWORD)).status, 401);
    await act('accounts/disable', { account: String(id) });
    const { result, maxRunning } = await watchHashes(login(email, PASSWORD));
    t.equal(result.status, 401);
    t.equal(maxRunning, 1, 'takes as long');
    t.equal((await login(email, WRONG_PASSWORD)).status, 401);
    await expectLocked(await login(email, PASSWORD), 'the disabled account');
    await act('accounts/enable', { account: String(id) });
    await expectLocked(await login(email, PASSWORD), 'the enabled account');
  });

  t.test('concurrent failed passwords are limited exactly', async (t) => {
    const { email } = await service.createUser();
    const attempts = Array.from({ length: 10 }, () => login(email, WRONG_PASSWORD));
    const { result, maxRunning } = await watchHashes(Promise.all(attempts));
    t.same(statusesOf(result), [...Array(LIMIT).fill(401), ...Array(10 - LIMIT).fill(429)]);
    t.equal(maxRunning, 1, 'one check at a time');
  });

  t.test('failed passwords below the limit do not affect concurrent correct ones', async (t) => {
    const { email } = await service.createUser();
    const attempts = Array.from({ length: 8 }, (_, index) => login(email, index % 4 === 0 ? WRONG_PASSWORD : PASSWORD));
    t.same(statusesOf(await Promise.all(attempts)), [...Array(6).fill(200), 401, 401]);
  });
});

t.test('beyond the maximum of sessions a login ends the least recently used one', async (t) => {
  const user = await service.createUser();
  const [second, third] = [await service.login(user.email), await service.login(user.email)];
  await changeSession(second, { last_used_at: new Date(Date.now() - 3_600_000) });
  const fourth = await service.login(user.email);
  t.same(await Promise.all([user.token, second, third, fourth].map(hasSession)), [true, false, true, true]);
});

t.test('a login never ends its own session, even if the clock was set back', async (t) => {
  const user = await service.createUser();
  const others = [user.token, await service.login(user.email), await service.login(user.email)];
  for (const token of others) await changeSession(token, { last_used_at: new Date(Date.now() + 3_600_000) });
  t.ok(await hasSession(await service.login(user.email)));
});

t.test('expired sessions do not count towards the maximum', async (t) => {
  const user = await service.createUser();
  const expired = await service.login(user.email);
  await changeSession(expired, { expires_at: new Date(0) });
  const others = [user.token, await service.login(user.email), await service.login(user.email)];
  t.same(await Promise.all(others.map(hasSession)), [true, true, true]);
});

t.test('concurrent logins leave exactly the maximum of sessions', async (t) => {
  const user = await service.createUser();
  const tokens = await Promise.all(Array.from({ length: 6 }, () => service.login(user.email)));
  const alive = await Promise.all([user.token, ...tokens].map(hasSession));
  t.equal(alive.filter(Boolean).length, LIMIT);
  const last = await service.login(user.email);
  t.ok(await hasSession(last));
  t.equal((await service.send('GET', '/auth/sessions', { token: last })).body.length, LIMIT);
});

t.test('security events are logged with the account and the address, and without secrets', async (t) => {
  const { id: accountId, email } = await service.createUser();
  const details = { accountId, address: '127.0.0.1' };
  const expectLogged = async (what: string, work: () => Promise<unknown>, ...expected: Record<string, unknown>[]) => {
    const before = events().length;
    await work();
    t.same(events().slice(before), expected, what);
  };
  const event = (name: string, more = {}) => ({ event: name, ...details, ...more });
  const ended = (reason: string) => event('session_ended', { reason });

  await expectLogged('a rejected registration', () => service.send('POST', '/auth/register', { json: {} }));
  const before = events().length;
  const registered = { accountId: (await registerWith(service.send)).id, address: details.address };
  const ofRegistration = ['account_created', 'login_succeeded'].map((name) => ({ event: name, ...registered }));
  t.same(events().slice(before), ofRegistration, 'registration and login');
  let one = '';
  let two = '';
  const succeeded = event('login_succeeded');
  await expectLogged('login', async () => (one = await service.login(email)), succeeded);
  await expectLogged('another login', async () => (two = await service.login(email)), succeeded);
  await expectLogged('a login beyond the limit', () => service.login(email), succeeded, ended('session_limit'));
  const deleteSession = () => service.send('DELETE', `/auth/sessions/${sessionIdOf(one)}`, { token: two });
  await expectLogged('session deletion', deleteSession, ended('deleted'));
  await expectLogged('a session that is missing', deleteSession);
  const deleteOthers = () => service.send('DELETE', '/auth/sessions', { token: two });
  await expectLogged('deletion of the others', deleteOthers, ended('others_deleted'));
  await expectLogged('logout', () => service.send('POST', '/auth/logout', { token: two }), ended('logout'));
  const token = await service.login(email);
  const changePassword = () => update(token, { current_password: PASSWORD, password: NEW_PASSWORD });
  await expectLogged('password change', changePassword, event('password_changed'));
  await expectLogged('a failed login', () => login(email, PASSWORD), event('login_failed'));
  const unknown = { event: 'login_failed', address: details.address };
  await expectLogged('an unknown address', () => login('unknown@people.example', WRONG_PASSWORD), unknown);
  const current = (await login(email, NEW_PASSWORD)).body.token;
  const guess = () => update(current, { current_password: WRONG_PASSWORD, name: 'x' });
  await expectLogged('a wrong current password', guess, event('password_rejected'));
  const changer = await service.createUser();
  const changed = (name: string, more: object) => event(name, { accountId: changer.id, ...more });
  const fields = { username: `${changer.username}-2`, email: `new-${changer.email}` };
  await expectLogged('names that stay', () => update(changer.token, { username: changer.username, name: 'x' }));
  await expectLogged(
    'new names',
    () => update(changer.token, fields),
    changed('email_changed', { previousEmail: changer.email }),
    changed('username_changed', { previousUsername: changer.username }),
  );
  await expectLogged('a name in use', () => update(changer.token, { email }));
  const leaver = await service.createUser();
  const deleted = event('account_deleted', { accountId: leaver.id });
  await expectLogged('account deletion', () => deleteAccount(leaver.token, PASSWORD), deleted);
  const throttled = event('throttled', { reason: 'failed_passwords' });
  const lastGuess = () => deleteAccount(current, WRONG_PASSWORD);
  await expectLogged('the last allowed failure', lastGuess, event('password_rejected'), throttled);
  await expectLogged('further attempts', () => login(email, NEW_PASSWORD));

  t.notOk(
    new RegExp(`${email}|new-u|(nobody|unknown)@|${PASSWORD}|${WRONG_PASSWORD}|Amber|eyJ`).test(service.logged()),
    'no secret is logged',
  );
  const metrics = await scrape(service.opsUrl);
  t.ok(metrics.value('security_events_total', { event: 'password_changed' }));
  t.type(metrics.value('password_hashes_refused_total', { reason: 'full' }), 'number');
});
