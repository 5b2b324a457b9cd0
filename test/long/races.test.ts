import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import t from 'tap';
import { expectConsistentStores } from '../support/consistency.js';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { listen } from '../support/listen.js';
import { picture } from '../support/picture.js';
import { openRaces, sendTwiceConcurrently } from '../support/races.js';
import { createPost, PASSWORD, type TestUser } from '../support/service.js';
import { needsServers } from '../support/stores.js';

/*
 * Races that the contract tests do not contain, because they need many rounds, images or the database; and those of the
 * contract tests, here on two services.
 */

const { createUser, run, services } = await openRaces(t);
const [{ stores }] = services;

/** The number of runs of the contract tests' races. Each run has two rounds of most of them. */
const CONTRACT_RUNS = 5;

t.test('the races of the contract tests have the same outcomes across processes', needsServers, async (t) => {
  let connectionCount = 0;
  const balancer = createServer((client) => {
    connectionCount += 1;
    const { url } = services[connectionCount % services.length] ?? services[0];
    const server = connect(Number(new URL(url).port), '127.0.0.1');
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => undefined);
  });
  const url = `http://127.0.0.1:${await listen(t, balancer)}`;
  const selects = (id: string) => id.startsWith('concurrency.');
  const onRulesChecked = () => expectConsistentStores(t, stores);
  for (let run = 0; run < CONTRACT_RUNS; run += 1) {
    const { outcomes, left } = await checkContract(url, { selects, onRulesChecked });
    const passed = outcomes.filter(({ verdict }) => verdict === 'passed').length;
    t.ok(passed >= 20, `${passed} rules passed`);
    t.same(failuresIn(outcomes), []);
    t.same(left, []);
  }
  // The contract tests retry a 503.
  for (const service of services) t.notMatch(service.logged(), /deadlock|service unavailable|internal server error/);
  t.ok(connectionCount >= services.length);
});

const sessionsOf = async ({ id }: TestUser) =>
  (await stores.db.selectFrom('sessions').select('id').where('account_id', '=', id).execute()).length;

const update = (user: TestUser, form: Record<string, string | Blob>) => () =>
  user.send('PUT', '/profiles/me', { form });

const changePassword = (user: TestUser) =>
  update(user, { password: 'Bright-Lantern-58!', current_password: PASSWORD })();

t.test('one of two concurrent edits is stored completely', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada, { image: picture('png') });
    const edit = (kind: 'png' | 'jpeg') => () =>
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { title: kind, text: kind, image: picture(kind) } });
    t.same(await sendTwiceConcurrently(edit('png'), edit('jpeg')), [200, 200, 200, 200]);
    const { body } = await ada.send('GET', `/posts/${id}`);
    t.equal(body.text, body.title);
    t.match(body.image, body.title === 'png' ? /\.png$/ : /\.jpe?g$/);
  });
});

t.test('concurrent edits and deletions leave nothing', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada, { image: picture('png') });
    const [first, second, ...deletions] = await Promise.all([
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { image: picture('jpeg') } }),
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { remove_image: 'true' } }),
      ada.send('DELETE', `/posts/delete?id=${id}`),
      ada.send('DELETE', `/posts/delete?id=${id}`),
    ]);
    for (const { status } of [first, second]) t.ok(status === 200 || status === 404, `an edit: ${status}`);
    t.same(deletions.map(({ status }) => status).sort(), [200, 404]);
  });
});

t.test('a concurrent password change and logout leave no session', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const phone = await ada.newSession();
    const [changed, ...logouts] = await Promise.all([
      changePassword(ada),
      phone.send('POST', '/auth/logout'),
      phone.send('POST', '/auth/logout'),
    ]);
    t.equal(changed.status, 200);
    t.ok(logouts.filter(({ status }) => status === 200).length <= 1);
    t.equal(await sessionsOf(ada), 0);
  });
});

t.test('concurrent use and deletion of sessions do not cause errors', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const devices = await Promise.all(Array.from({ length: 12 }, () => ada.newSession()));
    await sql`update sessions set last_used_at = now() - interval '1 hour' where account_id = ${ada.id}`.execute(
      stores.db,
    );
    const [changed, ended] = await Promise.all([
      changePassword(ada),
      devices[0]?.send('DELETE', '/auth/sessions'),
      ...devices.flatMap(({ send }) => [send('GET', '/auth/me'), send('GET', '/auth/sessions')]),
    ]);
    t.ok(changed.status === 200 || changed.status === 401);
    t.ok(ended?.status === 200 || ended?.status === 401);
  });
});

t.test('one of two concurrent changes of the profile picture is stored completely', async (t) => {
  for (const form of [{ image: picture('jpeg') }, { remove_image: 'true' }])
    await run(t, async () => {
      const ada = await createUser();
      const statuses = await sendTwiceConcurrently(update(ada, { image: picture('png') }), update(ada, form));
      t.same(statuses, [200, 200, 200, 200]);
    });
});
