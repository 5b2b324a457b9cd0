import { sql } from 'kysely';
import t from 'tap';
import { picture } from '../support/picture.js';
import { openRaces, sendTwiceConcurrently } from '../support/races.js';
import { PASSWORD } from '../support/service.js';
import type { TestUser } from '../support/users.js';

const { createUser, send, run, allStores } = await openRaces(t);
const { db } = allStores[0];

const NEW_PASSWORDS = ['Bright-Lantern-58!', 'Silver-Orchard-91!'] as const;

const accountsWhere = async (column: 'username_key' | 'email', value: string) =>
  (await db.selectFrom('accounts').select('id').where(column, '=', value).execute()).length;
const sessionsOf = async ({ id }: TestUser) =>
  (await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute()).length;
const isAlive = async (token: string) => (await send('GET', '/auth/me', { token })).status === 200;

const register = (username: string, email: string) => () =>
  send('POST', '/auth/register', { json: { name: 'Some Body', username, email, password: PASSWORD } });
const login = (email: string, password: string = PASSWORD) =>
  send('POST', '/auth/login', { json: { email, password } });
const update = (user: TestUser, form: Record<string, string | Blob>) => () =>
  user.send('PUT', '/profiles/me', { form });
const changePassword = (user: TestUser, password: string) => update(user, { password, current_password: PASSWORD });

t.test('of concurrent registrations of one username, in any letter case, one succeeds', async (t) => {
  await run(t, async (round) => {
    const [lower, upper] = [`same${round}`, `SAME${round}`];
    const statuses = await Promise.all([
      register(lower, `one${round}@name.example`)(),
      register(upper, `two${round}@name.example`)(),
      register(lower, `three${round}@name.example`)(),
    ]);
    t.same(statuses.map(({ status }) => status).sort(), [201, 409, 409]);
    t.equal(await accountsWhere('username_key', upper), 1);
  });
});

t.test('of concurrent registrations of one email one succeeds', async (t) => {
  await run(t, async (round) => {
    const email = `same${round}@email.example`;
    const statuses = await Promise.all([
      register(`ada${round}`, email)(),
      register(`bob${round}`, email)(),
      register(`eve${round}`, email)(),
    ]);
    t.same(statuses.map(({ status }) => status).sort(), [201, 409, 409]);
    t.equal(await accountsWhere('email', email), 1);
  });
});

t.test('of two concurrent changes to one username one succeeds', async (t) => {
  await run(t, async (round) => {
    const [ada, bob] = [await createUser(), await createUser()];
    const username = `wanted${round}`;
    const responses = await Promise.all([update(ada, { username })(), update(bob, { username })()]);
    t.same(responses.map(({ status }) => status).sort(), [200, 409]);
    t.equal(await accountsWhere('username_key', username.toUpperCase()), 1);
  });
});

t.test('two accounts cannot swap usernames concurrently', async (t) => {
  await run(t, async () => {
    const [ada, bob] = [await createUser(), await createUser()];
    const statuses = await Promise.all([
      update(ada, { username: bob.username })(),
      update(bob, { username: ada.username })(),
    ]);
    t.same(
      statuses.map(({ status }) => status),
      [409, 409],
    );
  });
});

t.test('of concurrent password changes one succeeds, and ends every session', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const [first, second] = await Promise.all(NEW_PASSWORDS.map((password) => changePassword(ada, password)()));
    t.same([first?.status, second?.status].sort(), [200, 401]);
    const [valid, other] = first?.status === 200 ? NEW_PASSWORDS : NEW_PASSWORDS.toReversed();
    t.equal(await sessionsOf(ada), 0);
    const logins = await Promise.all([valid, other, PASSWORD].map((password) => login(ada.email, password)));
    t.same(
      logins.map(({ status }) => status),
      [200, 401, 401],
    );
  });
});

t.test('no login with the old password survives a password change', async (t) => {
  const round = async () => {
    const ada = await createUser({ strong: true });
    const [changed, ...logins] = await Promise.all([
      changePassword(ada, NEW_PASSWORDS[0])(),
      ...Array.from({ length: 6 }, () => login(ada.email)),
    ]);
    t.equal(changed.status, 200);
    t.equal(await sessionsOf(ada), 0, 'no session is left');
    for (const { status, body } of logins) {
      t.match(String(status), /^(200|401)$/);
      if (status === 200) t.notOk(await isAlive(body.token));
    }
  };
  // Passwords are hashed at full cost here; more concurrent rounds would fill the hash queue.
  await run(t, round, { inFlight: 2 });
});

t.test('a concurrent password change and logout leave no session', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const phone = await ada.newSession();
    const [changed, ...logouts] = await Promise.all([
      changePassword(ada, NEW_PASSWORDS[0])(),
      phone.send('POST', '/auth/logout'),
      phone.send('POST', '/auth/logout'),
    ]);
    t.equal(changed.status, 200);
    t.ok(logouts.filter(({ status }) => status === 200).length <= 1);
    t.equal(await sessionsOf(ada), 0);
  });
});

t.test('of two concurrent logouts one succeeds', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    t.same(await sendTwiceConcurrently(() => ada.send('POST', '/auth/logout')), [200, 401]);
    t.equal(await sessionsOf(ada), 0);
  });
});

t.test('concurrent use and deletion of sessions do not cause errors', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const devices = await Promise.all(Array.from({ length: 12 }, () => ada.newSession()));
    await sql`update sessions set last_used_at = now() - interval '1 hour' where account_id = ${ada.id}`.execute(db);
    const [changed, ended] = await Promise.all([
      changePassword(ada, NEW_PASSWORDS[0])(),
      devices[0]?.send('DELETE', '/auth/sessions'),
      ...devices.flatMap(({ send }) => [send('GET', '/auth/me'), send('GET', '/auth/sessions')]),
    ]);
    t.ok(changed.status === 200 || changed.status === 401);
    t.ok(ended?.status === 200 || ended?.status === 401);
  });
});

t.test('of two concurrent profile pictures one is stored', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const statuses = await sendTwiceConcurrently(
      update(ada, { image: picture('png') }),
      update(ada, { image: picture('jpeg') }),
    );
    t.same(statuses, [200, 200, 200, 200]);
  });
});

t.test('concurrently setting and removing a picture leaves it complete or absent', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const statuses = await sendTwiceConcurrently(
      update(ada, { image: picture('png') }),
      update(ada, { remove_image: 'true' }),
    );
    t.same(statuses, [200, 200, 200, 200]);
  });
});
