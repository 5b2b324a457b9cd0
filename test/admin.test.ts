import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import t from 'tap';
import { extract, list } from 'tar';
import { exportAccount } from '../db/admin/export.js';
import { migrations } from '../db/postgres/migrations/index.js';
import { samples } from '../scripts/contract-test/client/index.js';
import { createAdmin } from './support/admin.js';
import { expectConsistentStores } from './support/consistency.js';
import { checkContract, failuresIn } from './support/contract-run.js';
import { withBareStores } from './support/moves.js';
import { ONE_LINE, runCommand } from './support/processes.js';
import { befriend, createPost, PASSWORD, picture, startTestService, WRONG_PASSWORD } from './support/service.js';
import { emptyStores } from './support/store-fixtures.js';
import { onServices, temporaryDirectory } from './support/stores.js';

const service = await startTestService(t, { ...(await emptyStores(t)), REGISTRATION: 'closed' });
const { send, createUser } = service;
const { act, exportArchive } = createAdmin(service.context);

const login = (email: string, password = PASSWORD) => send('POST', '/auth/login', { json: { email, password } });
const metrics = async () => (await fetch(`${service.opsUrl}/metrics`)).text();
const me = (token: string) => send('GET', '/auth/me', { token });

/** Returns the security events that were logged during `work`. */
async function eventsOf(work: () => Promise<unknown>): Promise<object[]> {
  const before = service.logged().length;
  await work();
  return service
    .logged()
    .slice(before)
    .split('\n')
    .filter((line) => line.includes('"security event"'))
    .map((line) => JSON.parse(line))
    .map(({ level, time, pid, msg, ...event }) => event);
}

t.test('a disabled account cannot log in', async (t) => {
  const user = await createUser();
  const { disabled_at, sessions } = await act('accounts/disable', { account: user.email });
  t.match({ disabled_at, sessions }, { disabled_at: /^2/, sessions: 0 });
  t.same((await act('accounts/disable', { account: user.email })).disabled_at, disabled_at, 'the first time');
  t.equal((await me(user.token)).status, 401);
  const responses = [await login(user.email), await login(user.email, WRONG_PASSWORD)];
  t.same(
    responses.map(({ status, body }) => [status, body]),
    Array(2).fill([401, { code: 'invalid_credentials', message: 'The email or password is wrong.' }]),
  );
  t.equal((await act('accounts/enable', { account: user.email })).disabled_at, null);
  t.equal((await login(user.email)).status, 200);
  t.equal((await me(user.token)).status, 401, 'an ended session does not return');
});

t.test('a disabled account does not exist for others, and all comes back when it is enabled', async (t) => {
  const [user, friend, asked, asking] = [
    await createUser(),
    await createUser(),
    await createUser(),
    await createUser(),
  ];
  const post = await createPost(user, { image: picture() });
  const { body: profile } = await user.send('PUT', '/profiles/me', { form: { image: picture('gif') } });
  await befriend(user, friend);
  await user.send('POST', `/friends/request?to=${asked.id}`);
  await asking.send('POST', `/friends/request?to=${user.id}`);
  await friend.send('POST', `/posts/like?id=${post.id}`);
  const likedByUser = await createPost(friend);
  await user.send('POST', `/posts/like?id=${likedByUser.id}`);

  /** Sends every request that could show the account, or the account with the names and ids of nothing. */
  const requests = (id: number, postId: number, image: string, picture: string): [string, string][] => [
    ['GET', `/profiles/${id}`],
    ['GET', `/posts/${postId}`],
    ['GET', image],
    ['GET', picture],
    ['POST', `/posts/like?id=${postId}`],
    ['DELETE', `/posts/like?id=${postId}`],
    ['POST', `/friends/request?to=${id}`],
    ['POST', `/friends/accept?from=${id}`],
    ['POST', `/friends/decline?from=${id}`],
    ['POST', `/friends/cancel?to=${id}`],
    ['DELETE', `/friends/remove?id=${id}`],
  ];
  const missing = 9_007_199_254_740_991;
  const [anImage, aPicture] = [`/posts/image/${'0'.repeat(32)}.gif`, `/profiles/image/${'0'.repeat(32)}.gif`];
  const hidden = requests(user.id, post.id, post.image ?? '', profile.profile_link);
  const nothing = requests(missing, missing, anImage, aPicture);
  const lists = ['/posts?limit=100', '/posts?limit=1&offset=2000', '/friends', '/friends/requests'];
  const viewers = [friend, asked, asking];
  const readLists = () =>
    Promise.all(viewers.flatMap(({ send }) => lists.map(async (path) => (await send('GET', path)).body)));
  const isShown = async () => JSON.stringify(await readLists()).includes(user.username);

  t.ok(await isShown());
  const before = await readLists();
  await act('accounts/disable', { account: user.email });
  t.notOk(await isShown());
  for (const [index, [method, path]] of hidden.entries()) {
    for (const viewer of viewers) {
      const { status, body } = await viewer.send(method, path);
      const [, pathOfNothing = ''] = nothing[index] ?? [];
      const { status: expectedStatus, body: expected } = await viewer.send(method, pathOfNothing);
      t.same([status, body], [expectedStatus, expected], `${method} ${path}`);
      t.equal(status, 404);
    }
  }
  t.match((await friend.send('GET', `/posts/${likedByUser.id}`)).body, { like_count: 1 }, 'its likes count');
  const fields = { name: 'Other', username: user.username, email: 'other@people.example' };
  await t.rejects(act('accounts/create', fields), { code: '400', message: /^username: / });

  await act('accounts/enable', { account: user.email });
  t.same(await readLists(), before);
  for (const [method, path] of hidden.slice(0, 4)) t.equal((await friend.send(method, path)).status, 200, path);
  t.match((await friend.send('GET', `/posts/${post.id}`)).body, { like_count: 1, liked_by_me: true });
});

t.test('deletes accounts and posts of anyone, with their images', async (t) => {
  const [user, reader] = [await createUser(), await createUser()];
  const [one, two] = [await createPost(user, { image: picture() }), await createPost(user, { image: picture() })];
  await reader.send('POST', `/posts/like?id=${one.id}`);
  await act('posts/delete', { posts: [String(one.id)] });
  t.equal((await user.send('GET', `/posts/${one.id}`)).status, 404);
  t.equal((await user.send('GET', `/posts/${two.id}`)).status, 200);
  await t.rejects(act('posts/delete', { posts: [String(one.id)] }), { code: '400' });
  await act('accounts/disable', { account: user.email });
  await act('accounts/delete', { account: user.email });
  t.equal((await reader.send('GET', `/profiles/${user.id}`)).status, 404);
  t.equal((await reader.send('GET', `/posts/${two.id}`)).status, 404);
  await t.rejects(act('accounts/delete', { account: user.email }), { code: '400' });
  await expectConsistentStores(t, service.stores);
});

t.test('each change is a security event that the metrics count', async (t) => {
  const user = await createUser();
  const { id: accountId } = user;
  const account = String(accountId);
  const post = await createPost(await createUser());
  await createPost(user);
  await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  const email = `later-${user.email}`;
  const event = (name: string, command: string, more: object = { accountId }) => ({ event: name, ...more, command });
  const expected: [() => Promise<unknown>, object][] = [
    [() => act('accounts/disable', { account }), event('account_disabled', 'accounts disable')],
    [() => act('accounts/enable', { account }), event('account_enabled', 'accounts enable')],
    [() => act('accounts/reset-password', { account }), event('password_changed', 'accounts reset-password')],
    [() => act('accounts/end-sessions', { account }), event('session_ended', 'accounts end-sessions')],
    [() => act('accounts/remove-picture', { account }), event('picture_removed', 'accounts remove-picture')],
    [
      () => act('accounts/set-email', { account, email }),
      event('email_changed', 'accounts set-email', { accountId, previousEmail: user.email }),
    ],
    [() => act('posts/delete-all', { author: account }), event('post_deleted', 'posts delete --author')],
    [() => exportArchive(account), event('account_exported', 'accounts export')],
    [() => act('accounts/delete', { account }), event('account_deleted', 'accounts delete')],
    [
      () => act('posts/delete', { posts: [String(post.id)] }),
      { event: 'post_deleted', accountId: post.author_id, postId: post.id, command: 'posts delete' },
    ],
  ];
  for (const [work, logged] of expected) t.same(await eventsOf(work), [logged]);
  const fields = { name: 'x', username: 'Grace', email: 'grace@example.org' };
  t.match(await eventsOf(() => act('accounts/create', fields)), [
    { event: 'account_created', command: 'accounts create' },
  ]);
  t.match(await metrics(), /^security_events_total\{event="account_disabled"\} [1-9]/m);
  t.notMatch(service.logged(), new RegExp(`${email}|grace@`), 'no present address');
});

t.test('exports everything that is stored about an account', async (t) => {
  const [user, friend, admirer] = [await createUser({ name: 'Grace' }), await createUser(), await createUser()];
  const { body } = await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  const withImage = await createPost(user, { title: 'One', image: picture() });
  const plain = await createPost(user, { title: 'Two' });
  await befriend(user, friend);
  await admirer.send('POST', `/friends/request?to=${user.id}`);
  await user.send('POST', `/posts/like?id=${plain.id}`);
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'account.tar');
  const { code, output } = await runCommand(
    t,
    ['admin', 'accounts', 'export', user.email, '--to', file],
    service.environment,
  );
  t.equal(code, 0, output);

  const paths: string[] = [];
  await list({ file, onReadEntry: ({ path }) => void paths.push(path) });
  await extract({ file, cwd: directory });
  const read = async (name: string) => JSON.parse(await readFile(join(directory, name), 'utf8'));
  t.match(await read('account.json'), { id: user.id, email: user.email, name: 'Grace', posts: 2 });
  t.match(await read('sessions.json'), [{ device_name: 'a test' }]);
  t.same(await read('friends.json'), [{ id: friend.id, username: friend.username }]);
  t.same(await read('friend-requests.json'), {
    received: [{ id: admirer.id, username: admirer.username }],
    sent: [],
  });
  t.same(await read('likes.json'), [plain.id]);
  t.match(await read('posts-1.json'), [
    { id: withImage.id, title: 'One' },
    { id: plain.id, title: 'Two', image: null },
  ]);
  for (const path of [body.profile_link, withImage.image])
    t.ok((await readFile(join(directory, 'images', path.split('/').at(-1)))).equals(samples.png));
  t.same(paths.length, 9, `nothing else: ${paths}`);
});

t.test('an export ends with an error if the account is deleted meanwhile', async (t) => {
  const { id } = await createUser();
  const archive = exportAccount(service.stores, id);
  await archive.next();
  await act('accounts/delete', { account: String(id) });
  await t.rejects(buffer(archive), { code: 'account_deleted' });
});

t.test('the contract tests use accounts of the operator', async (t) => {
  const accounts: Awaited<ReturnType<typeof act<'accounts/create'>>>[] = [];
  for (let index = 0; index < 12; index += 1) {
    const fields = { name: 'Tester', username: `contract-${index}`, email: `contract-${index}@example.org` };
    accounts.push(await act('accounts/create', fields));
  }
  const selects = ({ id }: { id: string }) => /^(accounts|likes)\./.test(id);
  const { results, undeletedAccounts } = await checkContract(service.url, { selects, accounts });
  t.same(failuresIn(results), []);
  t.same(undeletedAccounts, []);
  const reasons = (subject: string) => results.filter(({ id }) => id.startsWith(subject)).map(({ reason }) => reason);
  t.match(reasons('accounts.register'), ['registration is closed']);
  t.ok(reasons('likes').length > 3);
  const checked = [...reasons('likes'), ...reasons('accounts.register.closed')];
  t.notOk(checked.some(Boolean), 'all are checked');
  // Without accounts of the operator, a service with closed registration is at fault.
  const withoutAccounts = await checkContract(service.url, { selects: ({ id }) => id === 'accounts.register.success' });
  t.equal(failuresIn(withoutAccounts.results).length, 1);
});

t.test('the command', async (t) => {
  const user = await createUser();
  const admin = (...args: string[]) => runCommand(t, ['admin', ...args], service.environment);

  await t.test('prints a table, lines or JSON', async (t) => {
    const { output } = await admin('accounts', 'list', '--search', user.email, '--newest');
    t.match(output, new RegExp(`^id +username +email .*\n${user.id} +${user.username} +${user.email} .*\n$`));
    t.match((await admin('accounts', 'show', user.email)).output, new RegExp(`^username +${user.username}$`, 'm'));
    // An old version accepted such a name.
    const old = service.stores.db.updateTable('accounts').set({ username: 'o\u202Eld' });
    const { id } = await createUser();
    await old.where('id', '=', id).execute();
    t.match((await admin('accounts', 'list', '--after', String(id - 1))).output, new RegExp(`^${id} +o ld `, 'm'));
    const { body } = await user.send('POST', '/posts/create', { form: { title: 'T', text: 'Text' } });
    const json = await admin('posts', 'show', String(body.id), '--json');
    t.match(JSON.parse(json.output), { id: body.id, author_id: user.id, text: 'Text' });
    const escapes = { form: { title: '\u001B[2JClear\u009Bm', text: 'a\u202Eb\r\n\u{e0041}c' } };
    const { body: hostile } = await user.send('POST', '/posts/create', escapes);
    const { output: lines } = await admin('posts', 'show', String(hostile.id));
    t.match(lines, / \[2JClear m\ntext +a b c\n/, 'no control character of a user reaches the terminal');
    const { output: escaped } = await admin('posts', 'show', String(hostile.id), '--json');
    t.notMatch(escaped.trimEnd(), /[\p{Cc}\p{Cf}]/u);
    t.match(JSON.parse(escaped), escapes.form);
  });

  await t.test('refuses bad input with one line and exit code 2', async (t) => {
    for (const args of [
      ['accounts', 'show', '@nobody'],
      ['accounts', 'end-sessions'],
      ['accounts', 'create', '--name', ' ', '--username', 'x y', '--email', 'x'],
      ['accounts', 'set-email', user.email, 'x@mailinator.com', '--yes'],
      ['accounts', 'remove-picture', user.email, '--yes'],
      ['accounts', 'show', 'one\ntwo'],
    ])
      t.match(await admin(...args), { code: 2, output: ONE_LINE }, args.join(' '));
  });

  await t.test('asks before a deletion, and needs --yes without a terminal', async (t) => {
    const remove = ['accounts', 'delete', user.email];
    const { id, username, email } = user;
    const question = `Delete the account @${username} (id ${id}, ${email}) with all its content?`;
    t.match(await admin(...remove), { code: 2, output: `${question} Without a terminal, confirm with --yes` });
    t.match(await admin(...remove, '--yes'), { code: 0, output: `Deleted account ${user.id}` });
    const rows = await act('log/list', { account: String(id), limit: 1 });
    t.match(rows, [{ command: 'accounts delete' }], 'the service sees it, whichever process has done it');
    t.match(await admin('accounts', 'show', String(user.id)), { code: 2, output: ONE_LINE });
  });

  await t.test(
    'says nothing about a store that it does not need',
    { skip: !onServices && 'needs Neo4j' },
    async (t) => {
      const { email } = await createUser();
      const environment = { ...service.environment, NEO4J_URI: 'bolt://127.0.0.1:1', LOG_LEVEL: 'info' };
      const { code, output } = await runCommand(t, ['admin', 'accounts', 'show', email], environment);
      t.match({ code, output }, { code: 0, output: /^id / });
      const create = ['accounts', 'create', '--name', 'Bob', '--username', 'bob-later', '--email', 'bob@example.org'];
      t.match(await runCommand(t, ['admin', ...create], environment), { code: 0 }, 'the service tells the graph later');
    },
  );

  await t.test(
    'creates no data directory if all stores are servers',
    { skip: !service.environment.S3_BUCKET && 'needs S3' },
    async (t) => {
      const { email } = await createUser();
      const environment = { ...service.environment, DATA_DIR: join(await temporaryDirectory(t), 'absent') };
      for (const action of ['show', 'enable']) {
        t.match(await runCommand(t, ['admin', 'accounts', action, email], environment), { code: 0 }, action);
        t.notOk(existsSync(environment.DATA_DIR));
      }
    },
  );

  await t.test(
    'works while the service is stopped',
    { skip: onServices && 'connects itself in any case' },
    async (t) => {
      const { email } = await createUser();
      await service.stop();
      const last = Object.keys(migrations).at(-1);
      await withBareStores(service.environment, ({ db }) =>
        sql`update kysely_migration set name = 'none' where name = ${last}`.execute(db),
      );
      for (const action of ['show', 'enable'])
        t.same(
          await admin('accounts', action, email),
          { code: 1, output: 'The database needs a migration: run npm run migrate first\n' },
          'a command does not migrate',
        );
      await withBareStores(service.environment, ({ db }) =>
        sql`update kysely_migration set name = ${last} where name = 'none'`.execute(db),
      );
      t.match(await admin('accounts', 'show', email), { code: 0, output: /^id / });
      const args = ['admin', 'accounts', 'disable', email, '--yes'] as const;
      const { code, output } = await runCommand(t, args, { ...service.environment, LOG_LEVEL: 'info' });
      t.match({ code, output }, { code: 0, output: /^disabled_at +2/m });
      t.match(output, /"event":"account_disabled"/, 'the event is logged');
    },
  );
});
