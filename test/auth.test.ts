import { hash } from '@node-rs/argon2';
import { decodeJwt } from 'jose';
import { sql } from 'kysely';
import t from 'tap';
import { CLEARED_COOKIE, sessionCookieOf } from './support/http.js';
import { PASSWORD, startTestService, WRONG_PASSWORD } from './support/service.js';
import { onServices } from './support/stores.js';

const service = await startTestService(t);
const { db } = service.stores;

const login = (email: string, password = PASSWORD) =>
  service.send('POST', '/auth/login', { json: { email, password } });

t.test('a login replaces a hash with outdated parameters', async (t) => {
  const { send, id, email } = await service.createUser();
  const stored = async () =>
    (await db.selectFrom('accounts').select('password_hash').where('id', '=', id).executeTakeFirstOrThrow())
      .password_hash;
  const current = await stored();
  await login(email);
  t.equal(await stored(), current, 'a hash with the current parameters stays');

  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await db.updateTable('accounts').set({ password_hash: weak }).where('id', '=', id).execute();
  t.equal((await login(email, WRONG_PASSWORD)).status, 401);
  t.equal(await stored(), weak, 'a wrong password replaces nothing');
  await sql`alter table accounts add constraint no_rehash check (password_hash = ${sql.lit(weak)}) not valid`.execute(
    db,
  );
  t.equal((await login(email)).status, 200, 'a login succeeds even if its hash cannot be replaced');
  await sql`alter table accounts drop constraint no_rehash`.execute(db);
  t.equal(await stored(), weak);
  t.equal((await login(email)).status, 200);
  t.match(await stored(), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal((await login(email)).status, 200, 'the password is still the same');
  t.equal((await login(email, WRONG_PASSWORD)).status, 401);
  t.equal((await send('GET', '/auth/me')).status, 200, 'no session ends');
});

t.test('an account whose hash cannot be read refuses every password', async (t) => {
  const { id, email, send } = await service.createUser();
  await db.updateTable('accounts').set({ password_hash: 'disabled' }).where('id', '=', id).execute();
  t.match(await login(email), { status: 401, body: { code: 'invalid_credentials' } });
  const change = { form: { name: 'Other', current_password: PASSWORD } };
  t.match(await send('PUT', '/profiles/me', change), { status: 401, body: { code: 'invalid_password' } });
});

// The contract tests also accept two successes.
t.test('exactly one of two concurrent logouts succeeds', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { send } = await service.createUser();
    const responses = await Promise.all([send('POST', '/auth/logout'), send('POST', '/auth/logout')]);
    t.same(responses.map(({ status }) => status).sort(), [200, 401]);
    for (const response of responses) {
      t.same(sessionCookieOf(response), response.status === 200 ? CLEARED_COOKIE : undefined);
    }
  }
});

interface Session {
  id: string;
  last_used_at: string;
}

const sessionIdOf = (token: string) => String(decodeJwt(token).jti);
const sessionsOf = async (token: string): Promise<Session[]> =>
  (await service.send('GET', '/auth/sessions', { token })).body;
const change = (token: string, values: { last_used_at?: Date; expires_at?: Date }) =>
  db.updateTable('sessions').set(values).where('id', '=', sessionIdOf(token)).execute();
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

t.test('writes last_used_at when it lags by more than a minute, and not before', async (t) => {
  const user = await service.createUser();
  const otherToken = await service.login(user.email);
  const row = db.selectFrom('sessions').select('last_used_at').where('id', '=', sessionIdOf(user.token));
  for (const [lag, written] of [
    [70, true],
    [50, false],
  ] as const) {
    const then = secondsAgo(lag);
    await change(user.token, { last_used_at: then });
    await user.send('GET', '/auth/me');
    const { last_used_at } = await row.executeTakeFirstOrThrow();
    t.equal(Date.parse(last_used_at) > Number(then), written, `${lag} seconds`);
  }
  const shown = (await sessionsOf(otherToken)).find(({ id }) => id === sessionIdOf(user.token));
  t.ok(Date.now() - Date.parse(shown?.last_used_at ?? '') < 65_000, 'other sessions see it lag by a minute at most');
});

t.test('an expired session is rejected and not listed', async (t) => {
  const user = await service.createUser();
  const expired = await service.login(user.email);
  await change(expired, { expires_at: secondsAgo(1) });
  const listed = await sessionsOf(user.token);
  t.same(
    listed.map(({ id }) => id),
    [sessionIdOf(user.token)],
  );
  t.equal((await service.send('GET', '/auth/me', { token: expired })).status, 401);
});

const skip = onServices && 'the setting applies to one of several connections';

t.test('a session unused for a minute still authenticates while the database rejects writes', { skip }, async (t) => {
  const user = await service.createUser();
  await change(user.token, { last_used_at: secondsAgo(70) });
  // As on a full disk.
  await sql`set default_transaction_read_only = on`.execute(db);
  const read = await user.send('GET', '/auth/me');
  const write = await user.send('POST', '/auth/logout');
  await sql`set default_transaction_read_only = off`.execute(db);
  t.same([read.status, write.status], [200, 503]);
});
