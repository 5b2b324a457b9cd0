import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import t from 'tap';
import { extract, list } from 'tar';
import { migrations } from '../db/postgres/migrations/index.js';
import { createAdminActions } from '../handlers/admin/index.js';
import { samples } from '../scripts/contract-test/client/index.js';
import { expectConsistentStores } from './support/consistency.js';
import { checkContract, failuresIn } from './support/contract-run.js';
import { expensiveTexts } from './support/expensive-inputs.js';
import { withBareStores } from './support/moves.js';
import { ONE_LINE, runCommand } from './support/processes.js';
import { befriend, createPost, PASSWORD, picture, startTestService, WRONG_PASSWORD } from './support/service.js';
import { emptyStores } from './support/store-fixtures.js';
import { onServices, temporaryDirectory } from './support/stores.js';

const service = await startTestService(t, { ...(await emptyStores(t)), REGISTRATION: 'closed' });
const { send, createUser } = service;
const actions = createAdminActions(service.context);

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
    .map(({ event, accountId, postId, command }) => ({ event, accountId, ...(postId && { postId }), command }));
}

t.test('creates an account while registration is closed, under the rules of registration', async (t) => {
  const fields = { name: 'Ada', username: 'Ada-L', email: ' Ada@Example.org ' };
  const { id, password } = await actions.createAccount(fields);
  t.match(await login('ada@example.org', password), { status: 200, body: { id } });
  t.match(await actions.showAccount({ account: '@ada-l' }), { id, email: 'ada@example.org', sessions: 1, posts: 0 });
  await t.rejects(actions.createAccount(fields), { code: 'admin_input', message: /^username: / });
  const invalid = { name: '\ufffd', username: 'a b', email: 'x@mailinator.com' };
  await t.rejects(actions.createAccount(invalid), {
    code: 'admin_input',
    message: /(?=.*\bname: )(?=.*username: )(?=.*email: )/,
  });
});

t.test('refuses names that no password may contain, and texts that are expensive to fold', async (t) => {
  const fields = { name: 'Ada', username: 'ada-valid', email: 'ada-valid@example.org' };
  const expensive = expensiveTexts(40_000);
  const rows: [field: keyof typeof fields, text: string][] = [
    ['username', '\u200b'],
    ['email', '\u2060@example.org'],
    ...Object.values(expensive).flatMap((text) => Object.keys(fields).map((field) => [field, text] as never)),
  ];
  for (const [field, text] of rows) {
    const message = new RegExp(`^${field}: [^;]+(; ${field}: [^;]+)*$`);
    await t.rejects(actions.createAccount({ ...fields, [field]: text }), { code: 'admin_input', message }, field);
  }
  const tooLong = { code: 'admin_input', message: 'The text to search for has more than 254 characters' };
  for (const [name, text] of Object.entries(expensive)) {
    for (const account of [text, `@${text}`, `${text}@example.org`])
      await t.rejects(actions.showAccount({ account }), tooLong, name);
    await t.rejects(actions.listAccounts({ search: text, limit: 9 }), tooLong, name);
  }
});

t.test('finds accounts by id, username, email address and a part of them', async (t) => {
  const user = await createUser({ name: '100 % Zoë' });
  await createPost(user, { image: picture() });
  for (const account of [String(user.id), `@${user.username.toUpperCase()}`, user.email])
    t.match(await actions.showAccount({ account }), { id: user.id, posts: 1, sessions: 1, disabled_at: null });
  for (const search of ['100 % z', user.username.slice(1), user.email.slice(2)])
    t.same(await actions.listAccounts({ search, limit: 9 }), [await actions.showAccount({ account: user.email })]);
  t.same(await actions.listAccounts({ search: '100_%', limit: 9 }), []);
  const ids = (await actions.listAccounts({ limit: 1000 })).map(({ id }) => id);
  const [first = 0, ...rest] = ids;
  t.same(
    (await actions.listAccounts({ after: first, limit: 1000 })).map(({ id }) => id),
    rest,
  );
  t.same(await actions.listAccounts({ after: ids.at(-1) ?? 0, limit: 1000 }), []);
  for (const account of ['9007199254740991', '9'.repeat(30), '@nobody', 'no@body.example', 'nobody'])
    await t.rejects(actions.showAccount({ account }), { code: 'admin_input' }, account);
});

t.test('resets a password, which ends all sessions', async (t) => {
  const { id, email, token } = await createUser();
  const reset = await actions.resetPassword({ account: email });
  t.equal((await me(token)).status, 401);
  t.equal((await login(email)).status, 401);
  t.match(await login(email, reset.password), { status: 200, body: { id } });
  t.notOk(service.logged().includes(reset.password));
});

t.test('ends the sessions of an account, or of all', async (t) => {
  const [one, other] = [await createUser(), await createUser()];
  await one.newSession();
  t.same(await actions.endSessions({ account: String(one.id) }), { ended: 2 });
  t.same([(await me(one.token)).status, (await me(other.token)).status], [401, 200]);
  await actions.endSessions({});
  t.equal((await me(other.token)).status, 401);
});

t.test('a disabled account cannot log in, and its content stays visible', async (t) => {
  const [user, reader] = [await createUser(), await createUser()];
  const post = await createPost(user);
  const { disabled_at, sessions } = await actions.disableAccount({ account: user.email });
  t.match({ disabled_at, sessions }, { disabled_at: /^2/, sessions: 0 });
  t.same((await actions.disableAccount({ account: user.email })).disabled_at, disabled_at, 'the first time');
  t.equal((await me(user.token)).status, 401);
  const responses = [await login(user.email), await login(user.email, WRONG_PASSWORD)];
  t.same(
    responses.map(({ status, body }) => [status, body]),
    Array(2).fill([401, { code: 'invalid_credentials', message: 'The email or password is wrong.' }]),
  );
  t.equal((await reader.send('GET', `/posts/${post.id}`)).status, 200);
  t.equal((await actions.enableAccount({ account: user.email })).disabled_at, null);
  t.equal((await login(user.email)).status, 200);
  t.equal((await me(user.token)).status, 401, 'an ended session does not return');
});

t.test('deletes accounts and posts of anyone, with their images', async (t) => {
  const [user, reader] = [await createUser(), await createUser()];
  const [one, two] = [await createPost(user, { image: picture() }), await createPost(user, { image: picture() })];
  await reader.send('POST', `/posts/like?id=${one.id}`);
  await actions.deletePost({ id: one.id });
  t.equal((await user.send('GET', `/posts/${one.id}`)).status, 404);
  t.equal((await user.send('GET', `/posts/${two.id}`)).status, 200);
  await t.rejects(actions.deletePost({ id: one.id }), { code: 'admin_input' });
  await actions.disableAccount({ account: user.email });
  await actions.deleteAccount({ account: user.email });
  t.equal((await reader.send('GET', `/profiles/${user.id}`)).status, 404);
  t.equal((await reader.send('GET', `/posts/${two.id}`)).status, 404);
  await t.rejects(actions.deleteAccount({ account: user.email }), { code: 'admin_input' });
  await expectConsistentStores(t, service.stores);
});

t.test('each change is a security event that the metrics count', async (t) => {
  const { id: accountId, email: account } = await createUser();
  const post = await createPost({ send: (await createUser()).send });
  const event = (name: string, command: string, more = { accountId }) => ({ event: name, ...more, command });
  const expected: [() => Promise<unknown>, object][] = [
    [() => actions.disableAccount({ account }), event('account_disabled', 'accounts disable')],
    [() => actions.enableAccount({ account }), event('account_enabled', 'accounts enable')],
    [() => actions.resetPassword({ account }), event('password_changed', 'accounts reset-password')],
    [() => actions.endSessions({ account }), event('session_ended', 'accounts end-sessions')],
    [() => actions.exportAccount({ account }), event('account_exported', 'accounts export')],
    [() => actions.deleteAccount({ account }), event('account_deleted', 'accounts delete')],
    [
      () => actions.deletePost(post),
      { event: 'post_deleted', accountId: post.author_id, postId: post.id, command: 'posts delete' },
    ],
  ];
  for (const [work, logged] of expected) t.same(await eventsOf(work), [logged]);
  const fields = { name: 'x', username: 'Grace', email: 'grace@example.org' };
  t.match(await eventsOf(() => actions.createAccount(fields)), [
    { event: 'account_created', command: 'accounts create' },
  ]);
  t.match(await metrics(), /^security_events_total\{event="account_disabled"\} [1-9]/m);
  t.notOk(service.logged().includes(account) || service.logged().includes('grace@'));
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
    ['admin/index', 'accounts', 'export', user.email, '--to', file],
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
  const { email: account } = await createUser();
  const archive = await actions.exportAccount({ account });
  await archive.next();
  await actions.deleteAccount({ account });
  await t.rejects(buffer(archive), { code: 'account_deleted' });
});

t.test('the contract tests use accounts of the operator', async (t) => {
  const accounts = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      actions.createAccount({ name: 'Tester', username: `contract-${index}`, email: `contract-${index}@example.org` }),
    ),
  );
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
  const admin = (...args: string[]) => runCommand(t, ['admin/index', ...args], service.environment);

  await t.test('prints a table, lines or JSON', async (t) => {
    const { output } = await admin('accounts', 'list', '--search', user.email);
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
      ['posts', 'delete', '9007199254740991', '--yes'],
      ['accounts', 'end-sessions'],
      ['accounts', 'create', '--name', ' ', '--username', 'x y', '--email', 'x'],
    ])
      t.match(await admin(...args), { code: 2, output: ONE_LINE }, args.join(' '));
  });

  await t.test('asks before a deletion, and needs --yes without a terminal', async (t) => {
    const remove = ['accounts', 'delete', user.email];
    const { id, username, email } = user;
    const question = `Delete the account @${username} (id ${id}, ${email}) with all its content?`;
    t.match(await admin(...remove), { code: 2, output: `${question} Without a terminal, confirm with --yes` });
    const countActions = async () => Number(/^operator_actions (\d+)/m.exec(await metrics())?.[1]);
    const before = await countActions();
    t.match(await admin(...remove, '--yes'), { code: 0, output: `Deleted account ${user.id}` });
    t.equal(await countActions(), before + 1, 'the service counts it, whichever process has done it');
    t.match(await admin('accounts', 'show', String(user.id)), { code: 2, output: ONE_LINE });
  });

  await t.test(
    'says nothing about a store that it does not need',
    { skip: !onServices && 'needs Neo4j' },
    async (t) => {
      const { email } = await createUser();
      const environment = { ...service.environment, NEO4J_URI: 'bolt://127.0.0.1:1', LOG_LEVEL: 'info' };
      const { code, output } = await runCommand(t, ['admin/index', 'accounts', 'show', email], environment);
      t.match({ code, output }, { code: 0, output: /^id / });
    },
  );

  await t.test(
    'creates no data directory if all stores are servers',
    { skip: !service.environment.S3_BUCKET && 'needs S3' },
    async (t) => {
      const { email } = await createUser();
      const environment = { ...service.environment, DATA_DIR: join(await temporaryDirectory(t), 'absent') };
      for (const action of ['show', 'disable']) {
        t.match(await runCommand(t, ['admin/index', 'accounts', action, email], environment), { code: 0 }, action);
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
      t.same(
        await admin('accounts', 'show', email),
        { code: 1, output: 'The database needs a migration: run npm run migrate first\n' },
        'a command without changes does not migrate',
      );
      await withBareStores(service.environment, ({ db }) =>
        sql`update kysely_migration set name = ${last} where name = 'none'`.execute(db),
      );
      t.match(await admin('accounts', 'show', email), { code: 0, output: /^id / });
      const args = ['admin/index', 'accounts', 'disable', email] as const;
      const { code, output } = await runCommand(t, args, { ...service.environment, LOG_LEVEL: 'info' });
      t.match({ code, output }, { code: 0, output: /^disabled_at +2/m });
      t.match(output, /"event":"account_disabled"/, 'the event is logged');
    },
  );
});
