import t from 'tap';
import { createAdmin } from '../support/admin.js';
import { expectConsistentStores } from '../support/consistency.js';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { repeatUntilSettled, sendTwiceConcurrently, startBalancer, startRaceServices } from '../support/races.js';
import { createPost, PASSWORD, picture, type TestUser } from '../support/service.js';
import { createFixtures } from '../support/store-fixtures.js';
import { needsServers } from '../support/stores.js';

/*
 * The races of the contract tests, here on two services, and others that need many rounds, images or the database. After each
 * race, the stores must be consistent.
 */

const { createUser, send, run, services } = await startRaceServices(t);
const [{ stores }] = services;
const { db } = stores;
const { act, exportArchive } = createAdmin(services[0].context);

/** The runs of the contract tests: all rules that each process does not check by itself, and then only races. */
const CONTRACT_RUNS = [/^(?!http\.|limits\.)/, /^concurrency\./, /^concurrency\./];

// Consecutive requests reach different services, so what one has acknowledged must be visible on the other immediately.
t.test('two services together pass the contract tests', needsServers, async (t) => {
  const url = await startBalancer(
    t,
    services.map(({ url }) => url),
  );
  const onRulesChecked = () => expectConsistentStores(t, stores);
  for (const ids of CONTRACT_RUNS) {
    const selects = ({ id, slow }: { id: string; slow?: boolean }) => !slow && ids.test(id);
    const { results, undeletedAccounts } = await checkContract(url, { selects, onRulesChecked });
    const passed = results.filter(({ verdict }) => verdict === 'passed').length;
    t.ok(passed >= 20, `${passed} rules passed`);
    t.same(failuresIn(results), []);
    t.same(undeletedAccounts, []);
  }
  // The contract tests retry a 503, so only the log shows it.
  for (const service of services) t.notMatch(service.logged(), /deadlock|service unavailable|internal server error/);
});

const countSessions = async ({ id }: TestUser) =>
  (await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute()).length;

const update = (user: TestUser, form: Record<string, string | Blob>) => () =>
  user.send('PUT', '/profiles/me', { form });

const changePassword = (user: TestUser) =>
  update(user, { password: 'Bright-Lantern-58!', current_password: PASSWORD })();

const deleteAccount = (user: TestUser) => user.send('DELETE', '/profiles/me', { json: { password: PASSWORD } });
const deletePost = (author: TestUser, id: number) => author.send('DELETE', `/posts/delete?id=${id}`);

t.test('one of several concurrent edits, or changes of the profile picture, is stored completely', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const forms = [{ image: picture('png') }, { image: picture('jpeg') }, { remove_image: 'true' }];
    t.same(await sendTwiceConcurrently(...forms.map((form) => update(ada, form))), Array(6).fill(200));
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
      deletePost(ada, id),
      deletePost(ada, id),
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
    t.equal(await countSessions(ada), 0);
  });
});

t.test('no concurrent post, upload or session outlives its account', async (t) => {
  await run(t, async (round) => {
    const ada = await createUser();
    const [edited, ...deleted] = await Promise.all([1, 2, 3].map(() => createPost(ada, { image: picture('png') })));
    const create = (more: object) => () =>
      ada.send('POST', '/posts/create', { form: { title: 'A title', text: 'A text', ...more } });
    const login = () => send('POST', '/auth/login', { json: { email: ada.email, password: PASSWORD } });
    const statuses = await repeatUntilSettled(
      sendTwiceConcurrently(() => deleteAccount(ada)),
      create({}),
      create({ image: picture('png') }),
      () => ada.send('PUT', `/posts/edit?id=${edited?.id}`, { form: { image: picture('jpeg') } }),
      ...deleted.map(
        ({ id }) =>
          () =>
            deletePost(ada, id),
      ),
      update(ada, { image: picture('png'), private: String(round % 2 === 0) }),
      login,
      login,
      () => ada.send('DELETE', '/auth/sessions'),
    );
    t.same(statuses, [200, 401]);
    t.same(await db.selectFrom('accounts').select('id').where('id', '=', ada.id).execute(), []);
    t.equal(await countSessions(ada), 0);
    t.equal((await ada.send('GET', '/auth/me')).status, 401);
  });
});

t.test('concurrent deliveries of one entity do not conflict', async (t) => {
  const { enqueueEntries } = createFixtures(stores);
  await run(t, async () => {
    const [ada, bob] = [await createUser(), await createUser()];
    const post = await createPost(bob);
    const entities = [{ kind: 'person', key: ada.id } as const, { kind: 'post', key: post.id } as const];
    const entries = await enqueueEntries([...entities, ...entities, ...entities, ...entities]);
    const [deleted] = await Promise.all([
      deleteAccount(ada),
      deletePost(bob, post.id),
      ...entries.map((entry, index) => services[index % services.length]?.stores.outbox.deliver([entry])),
    ]);
    t.equal(deleted.status, 200);
  });
});

t.test('a login during a disabling, a reset or the end of sessions leaves no session of before', async (t) => {
  const login = (email: string) => send('POST', '/auth/login', { json: { email, password: PASSWORD } });
  const changes = ['accounts/disable', 'accounts/reset-password'] as const;
  await run(t, async (number) => {
    const { id, email } = await createUser({ strong: true });
    const logins = Array.from({ length: 4 }, () => login(email));
    await act(changes[number % 2] ?? changes[0], { account: String(id) });
    for (const { body } of await Promise.all(logins)) {
      if (body.token) t.equal((await send('GET', '/auth/me', { token: body.token })).status, 401);
    }
    t.equal((await login(email)).status, 401);
    t.equal((await act('accounts/show', { account: email })).sessions, 0);
  });
});

t.test('an account that is disabled meanwhile leaks nothing, and loses nothing', async (t) => {
  await run(t, async () => {
    const [ada, friend, reader] = [await createUser(), await createUser(), await createUser()];
    await ada.send('PUT', '/profiles/me', { form: { image: picture() } });
    const old = await createPost(ada, { image: picture() });
    const account = String(ada.id);
    const { body: profile } = await reader.send('GET', `/profiles/${ada.id}`);
    const created: number[] = [];
    const statuses = new Set<string>();
    let liked = false;
    let requested = false;
    const note = (what: string, { status }: { status: number }) => void statuses.add(`${what} ${status}`);
    await repeatUntilSettled(
      act('accounts/disable', { account }),
      async () => {
        const { status, body } = await ada.send('POST', '/posts/create', {
          form: { title: 'T', text: 'x', image: picture() },
        });
        if (status === 201) created.push(body.id);
        note('create', { status });
      },
      async () => {
        const response = await friend.send('POST', `/posts/like?id=${old.id}`);
        liked ||= response.status === 200;
        note('like', response);
      },
      async () => {
        const response = await friend.send('POST', `/friends/request?to=${ada.id}`);
        requested ||= response.status === 200;
        note('request', response);
      },
      async () => note('image', await reader.send('GET', old.image ?? '')),
      async () => note('picture', await reader.send('GET', profile.profile_link)),
    );
    const allowed = /^(create (201|401)|like (200|404)|request (200|404|409)|(image|picture) (200|404))$/;
    for (const status of statuses) t.match(status, allowed);

    const paths = [`/profiles/${ada.id}`, profile.profile_link, old.image ?? ''];
    const posts = [old.id, ...created].map((id) => `/posts/${id}`);
    for (const path of [...paths, ...posts]) t.equal((await reader.send('GET', path)).status, 404, path);
    t.equal((await friend.send('POST', `/posts/like?id=${old.id}`)).status, 404);
    t.equal((await friend.send('POST', `/friends/request?to=${ada.id}`)).status, 404);
    const { body: feed } = await reader.send('GET', '/posts?limit=100');
    t.notOk(feed.some(({ author_id }: { author_id: number }) => author_id === ada.id));

    await act('accounts/enable', { account });
    for (const path of [...paths, ...posts]) t.equal((await reader.send('GET', path)).status, 200, path);
    t.match((await friend.send('GET', `/posts/${old.id}`)).body, { liked_by_me: liked, like_count: Number(liked) });
    t.equal((await friend.send('POST', `/friends/cancel?to=${ada.id}`)).status, requested ? 200 : 404);
  });
});

t.test('a login while an account is enabled fails, or its session works', async (t) => {
  await run(t, async () => {
    const { id, email } = await createUser({ strong: true });
    await act('accounts/disable', { account: String(id) });
    const login = () => send('POST', '/auth/login', { json: { email, password: PASSWORD } });
    const logins = [login(), login()];
    const enabled = act('accounts/enable', { account: String(id) });
    logins.push(login(), login());
    await enabled;
    logins.push(login());
    const responses = await Promise.all(logins);
    t.equal(responses.at(-1)?.status, 200, 'a login after the change');
    for (const { status, body } of responses) {
      if (status === 200) t.equal((await send('GET', '/auth/me', { token: body.token })).status, 200);
      else t.match({ status, body }, { status: 401, body: { code: 'invalid_credentials' } });
    }
  });
});

t.test('the deletion of an author’s posts leaves only those that are created meanwhile', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const reader = await createUser();
    const before = await Promise.all([1, 2, 3].map(() => createPost(ada, { image: picture() })));
    const meanwhile: number[] = [];
    const create = async () => {
      const { body } = await ada.send('POST', '/posts/create', { form: { title: 'T', text: 'x', image: picture() } });
      meanwhile.push(body.id);
    };
    await repeatUntilSettled(
      act('posts/delete-all', { author: String(ada.id) }),
      create,
      () => ada.send('PUT', `/posts/edit?id=${before[0]?.id}`, { form: { image: picture('jpeg') } }),
      () => deletePost(ada, before[1]?.id ?? 0),
      () => reader.send('POST', `/posts/like?id=${before[2]?.id}`),
    );
    const rows = await db.selectFrom('posts').select('id').where('author_id', '=', ada.id).execute();
    const left = rows.map(({ id }) => id);
    t.same(
      left.filter((id) => !meanwhile.includes(id)),
      [],
    );
    await act('posts/delete-all', { author: String(ada.id) });
    t.match(await act('accounts/show', { account: ada.email }), { posts: 0, stored_bytes: 0 });
  });
});

t.test(
  'an account that the operator deletes while it posts leaves no post, and no export that is incomplete',
  async (t) => {
    await run(t, async () => {
      const ada = await createUser();
      await createPost(ada, { image: picture() });
      const archive = await exportArchive(ada.email);
      const exported = (async () => {
        for await (const _ of archive);
        return 'complete';
      })().catch(({ code }) => code);
      const post = (form: object) => () =>
        ada.send('POST', '/posts/create', { form: { title: 'T', text: 'T', ...form } });
      const deleted = act('accounts/delete', { account: ada.email });
      const posted = repeatUntilSettled(deleted, post({}), post({ image: picture() }));
      t.match(await exported, /^(complete|LIGHT_ECONNRESET)$/);
      await posted;
      t.same(await db.selectFrom('posts').select('id').where('author_id', '=', ada.id).execute(), []);
    });
  },
);
