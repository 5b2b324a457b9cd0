import { sql } from 'kysely';
import t from 'tap';
import { startTestService, type TestUser } from './support/service.js';
import { onServices } from './support/stores.js';

/* Last use and expiry of sessions. */

const service = await startTestService(t);
const { db } = service.stores;

interface Session {
  id: string;
  last_used_at: string;
}

const sessionsOf = async (token: string): Promise<Session[]> =>
  (await service.send('GET', '/auth/sessions', { token })).body;
const idsOf = (sessions: { id: string }[]) => sessions.map(({ id }) => id);
const rowsOf = ({ id }: { id: number }) =>
  db.selectFrom('sessions').select(['id', 'last_used_at']).where('account_id', '=', id).execute();
const change = (id: string, values: { last_used_at?: Date; expires_at?: Date }) =>
  db.updateTable('sessions').set(values).where('id', '=', id).execute();
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Logs in again, and returns the new session. */
async function loginAgain(user: TestUser): Promise<{ id: string; token: string }> {
  const known = idsOf(await rowsOf(user));
  const token = await service.login(user.email);
  const id = idsOf(await rowsOf(user)).find((row) => !known.includes(row)) ?? '';
  return { id, token };
}

t.test('writes last_used_at when it lags by more than a minute, and not before', async (t) => {
  const user = await service.createUser();
  const [{ id } = { id: '' }] = await rowsOf(user);
  const other = await loginAgain(user);
  for (const [lag, written] of [
    [70, true],
    [50, false],
  ] as const) {
    const then = secondsAgo(lag);
    await change(id, { last_used_at: then });
    await user.send('GET', '/auth/me');
    const row = (await rowsOf(user)).find((row) => row.id === id);
    t.equal(Date.parse(row?.last_used_at ?? '') > Number(then), written, `${lag} seconds`);
  }
  const shown = (await sessionsOf(other.token)).find((session) => session.id === id);
  t.ok(Date.now() - Date.parse(shown?.last_used_at ?? '') < 65_000, 'other sessions see it lag by a minute at most');
});

t.test('an expired session is rejected and not listed', async (t) => {
  const user = await service.createUser();
  const [current = ''] = idsOf(await rowsOf(user));
  const expired = await loginAgain(user);
  await change(expired.id, { expires_at: secondsAgo(1) });
  t.same(idsOf(await sessionsOf(user.token)), [current]);
  t.equal((await service.send('GET', '/auth/me', { token: expired.token })).status, 401);
});

const skip = onServices && 'the setting applies to one of several connections';

t.test('a session unused for a minute still authenticates while the database rejects writes', { skip }, async (t) => {
  const user = await service.createUser();
  const [{ id } = { id: '' }] = await rowsOf(user);
  await change(id, { last_used_at: secondsAgo(70) });
  // As on a full disk.
  await sql`set default_transaction_read_only = on`.execute(db);
  const read = await user.send('GET', '/auth/me');
  const write = await user.send('POST', '/auth/logout');
  await sql`set default_transaction_read_only = off`.execute(db);
  t.same([read.status, write.status], [200, 503]);
});
